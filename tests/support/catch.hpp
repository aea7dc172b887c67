// SPDX-License-Identifier: GPL-2.0-or-later
// Catch2 has version 2 on Debian 12 and version 3 elsewhere; the tests include this file only.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
