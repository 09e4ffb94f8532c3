# What `make install` and `make package` put where. A component is what a
# package holds of it: each program is one by its name, `weir` is also all that
# belongs to the node, `package` is in packages alone.
include(GNUInstallDirs)

# Manual pages and completion come from the program itself (weir manual), so that
# they say what it does.
set(weir_made "${PROJECT_BINARY_DIR}/made")
file(MAKE_DIRECTORY "${weir_made}")
add_custom_command(
  OUTPUT "${weir_made}/weir.1.gz" "${weir_made}/weir.toml.5.gz" "${weir_made}/weir.bash"
  COMMAND weir manual | gzip -9n > "${weir_made}/weir.1.gz"
  COMMAND weir manual weir.toml | gzip -9n > "${weir_made}/weir.toml.5.gz"
  COMMAND weir completion bash > "${weir_made}/weir.bash"
  DEPENDS weir
  VERBATIM)
add_custom_target(manuals ALL
  DEPENDS "${weir_made}/weir.1.gz" "${weir_made}/weir.toml.5.gz" "${weir_made}/weir.bash")
add_dependencies(programs manuals)
install(FILES "${weir_made}/weir.1.gz" COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${weir_made}/weir.toml.5.gz" COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_MANDIR}/man5")
install(FILES "${weir_made}/weir.bash" RENAME weir COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")

install(FILES README.md CHANGELOG.md CONTRIBUTING.md COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES LICENSE COMPONENT license
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# As in the source, so that their links lead somewhere.
install(DIRECTORY docs COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES conf/weir.toml COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/conf")
install(FILES conf/system/nginx.conf COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/conf/system")
install(DIRECTORY conf/ COMPONENT weir
        DESTINATION "${CMAKE_INSTALL_DATADIR}/weir"
        FILES_MATCHING PATTERN "*.toml" PATTERN "nginx.conf"
        PATTERN debian EXCLUDE)

# Where the programs will be is known when they are installed (--prefix). systemd
# looks below /usr and below /usr/local.
install(CODE "
  set(WEIR_BIN_DIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  set(WEIR_DOC_DIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/conf/system/weir.service.in\"
                 \"${weir_made}/weir.service\" @ONLY)
  file(INSTALL \"${weir_made}/weir.service\"
       DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")"
  COMPONENT weir)

# -- the Debian package ----------------------------------------------------------
install(FILES conf/system/weir.toml COMPONENT package EXCLUDE_FROM_ALL
        DESTINATION /etc/weir)
install(FILES LICENSE RENAME copyright COMPONENT package EXCLUDE_FROM_ALL
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS
    "${PROJECT_BINARY_DIR};weir;weir;/;${PROJECT_BINARY_DIR};weir;weir-bench;/;${PROJECT_BINARY_DIR};weir;package;/")
set(CPACK_SET_DESTDIR ON) # For /etc.
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME weir)
set(CPACK_PACKAGE_CONTACT "The Weir authors <maintainers@weir.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "verified copy of the AT Protocol network")
set(CPACK_PACKAGE_DESCRIPTION
"Weir finds repositories of the AT Protocol, fetches their history, checks
every hash, tree and signature, follows the live stream, notices holes and
repairs them, and writes everything to one durable log that applications read.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/conf/debian/conffiles"
    "${PROJECT_SOURCE_DIR}/conf/debian/postinst"
    "${PROJECT_SOURCE_DIR}/conf/debian/prerm"
    "${PROJECT_SOURCE_DIR}/conf/debian/postrm")
include(CPack)
