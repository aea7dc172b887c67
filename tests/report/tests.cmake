# SPDX-License-Identifier: GPL-2.0-or-later
# What hooks/ installs, as systemd itself reads it. Status 77: there's no systemd here.
add_test(NAME hooks.unit COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hooks/unit
  ${CMAKE_BINARY_DIR}/hooks/peerpath-boot-check.service $<TARGET_FILE:peerpath>)
add_test(NAME hooks.catalog COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hooks/catalog
  ${CMAKE_SOURCE_DIR}/hooks/peerpath.catalog)
set_tests_properties(hooks.unit hooks.catalog PROPERTIES SKIP_RETURN_CODE 77)
