// SPDX-License-Identifier: GPL-2.0-or-later
// fmt's own functions, for PEERPATH_STATIC_LIBRARIES: Debian ships fmt as a shared library alone,
// whose name changes with each release. What is named here are the templates that fmt's headers
// (9.1, Debian 12) declare and leave to the library; with another version the linker would miss
// some by name.
#include <fmt/format-inl.h>

template void fmt::detail::buffer<char>::append(const char*, const char*);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template fmt::detail::thousands_sep_result<char>
    fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template fmt::detail::locale_ref::locale_ref(const std::locale&);
template std::locale fmt::detail::locale_ref::get<std::locale>() const;
