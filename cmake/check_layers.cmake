# Fails when a file includes something its folder may not see, when an actor finds
# the place of a DID by itself, and when a shell reads JSON.
# CTest runs: cmake -DROOT=<source dir> -P cmake/check_layers.cmake
# docs/architecture.md shows the same rules as a picture.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

# -- our folders: who may include whom -----------------------------------------
set(base_may base)
set(atproto_may base atproto)
set(wire_may base atproto wire)
set(net_may base net)
set(storage_may base atproto storage)
set(messages_may base atproto wire storage messages)
set(actors_may base atproto wire net storage messages actors)
set(simnet_may base atproto net simnet)
set(apps_may base atproto wire net storage messages actors simnet apps)
set(bench_may ${apps_may} bench)

# -- rooms of a folder: each sees itself and the ones before it -----------------
set(storage_rooms format disk tables log segments verify backup)

# -- libraries: who may touch them, and who only in its .cpp files -------------
set(libraries "caf|leveldb|cereal|asio|beast|url|json|openssl|secp256k1|spdlog\
|prometheus|toml\\+\\+|CLI")
set(caf_only messages actors apps)
set(leveldb_only storage)
set(cereal_only storage)
set(beast_only net)
set(asio_only net)
set(url_only net)
set(openssl_only atproto net simnet)
# The benchmarks calibrate with the library itself.
set(secp256k1_only atproto simnet bench)
set(spdlog_only base)
set(prometheus_only base)
set(toml++_only apps)
set(CLI_only apps bench)
set(json_only atproto wire actors simnet apps bench)
set(base_hides spdlog prometheus)
set(atproto_hides openssl secp256k1 json)
set(wire_hides json)

# -- rules: without CAF, clock, disk or socket ---------------------------------
# What messages are made of is plain as well; two files give it to CAF.
set(caf_messages "^messages/(caf_types|interfaces)\\.hpp$")
# Which files of actors/ have rules does not go by their names. Those of the
# library `machines`, which is linked without CAF, and those called *_machine may
# reach these alone, and plain code of the same actor: what lies on disk is plain
# values, and so are bounds, and messages that need no CAF to be said. Of net that
# is what an address, a URL, a request and a reply are made of: these headers, one
# by one, because the others lead to sockets. What they include counts as well.
# Any other file of actors/ is part of a shell: it reaches something else. If it
# does not, it is plain code that belongs to that library.
set(net_values "address_guard|http_messages|http_types|ip_address|url")
set(machine_may
  "^(base|atproto|wire|messages|storage/format)/\
|^net/(${net_values})\\.hpp$\
|^(net|(actors|storage)/[a-z]+)/limits(_[a-z]+)?\\.hpp$")
set(bounds "/limits(_[a-z]+)?\\.hpp$")
set(machine_libraries "<(caf|leveldb|openssl|boost/(asio|beast))[/.]")

# A file of actors/ that includes CAF is a shell and translates messages. What it
# reads out of an answer, such as JSON, is a rule. cmake/layers_allowed.txt lists
# the shells that do it nevertheless, "file | reason".
set(shell_library "<caf/")
set(answer_library "<boost/json[/.]")
weir_read_allowed(json_shells layers_allowed.txt file)

function(check_shell source includes)
  if(includes MATCHES "${shell_library}" AND includes MATCHES "${answer_library}")
    if(source IN_LIST json_shells)
      list(REMOVE_ITEM json_shells "${source}")
      set(json_shells "${json_shells}" PARENT_SCOPE)
    else()
      weir_fault("${source}: a shell with CAF reads no JSON")
    endif()
  endif()
endfunction()

# The files that actors/CMakeLists.txt has in the library `machines`.
function(read_machines out)
  set(found "")
  set(list_file "${ROOT}/actors/CMakeLists.txt")
  if(EXISTS "${list_file}")
    file(READ "${list_file}" text)
    string(REGEX MATCH "weir_module\\(machines[^)]*" text "${text}")
    string(REGEX MATCHALL "[a-z_]+/[a-z_]+\\.[ch]pp" found "${text}")
    list(TRANSFORM found PREPEND "actors/")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# -- the place of a DID ----------------------------------------------------------
# Only placement says which partition and which ROUTER a DID has: no other code
# of the actors takes a hash modulo the number of any of them.
set(placement_file "actors/support/placement.hpp")
set(placement_pattern
    "\\.str\\(\\) *\\)[ \n]*(%|& )|hash_? *%|hash_? & |%[ \n]*[A-Za-z_.>()-]*(routers|partitions|shards)")

function(read_includes out source)
  file(STRINGS "${ROOT}/${source}" lines REGEX "^ *# *include")
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# One include of one of our own headers.
function(check_own source folder header)
  set(allowed ${${folder}_may})
  string(REGEX MATCH "^[a-z_]+" target "${header}")
  if(NOT header MATCHES "/" OR NOT target IN_LIST allowed)
    weir_fault("${source}: \"${header}\" is not for ${folder}")
  endif()
  # Actors meet in messages/, not in each other's headers; node wires them.
  if(header MATCHES "^actors/([a-z_]+)/")
    set(other "${CMAKE_MATCH_1}")
    if(source MATCHES "^actors/([a-z_]+)/"
       AND NOT CMAKE_MATCH_1 STREQUAL "node"
       AND NOT other STREQUAL "support"
       AND NOT other STREQUAL CMAKE_MATCH_1)
      weir_fault("${source}: \"${header}\" is another actor's")
    endif()
  endif()
endfunction()

# One include inside a folder that is built in rooms.
function(check_room source folder header)
  string(REGEX REPLACE "^${folder}/([a-z]+)/.*" "\\1" from "${source}")
  string(REGEX REPLACE "^${folder}/([a-z]+)/.*" "\\1" to "${header}")
  list(FIND ${folder}_rooms "${from}" above)
  list(FIND ${folder}_rooms "${to}" below)
  if(above LESS 0 OR below LESS 0)
    weir_fault("${source}: \"${header}\": one is in no room of ${folder}")
  elseif(below GREATER above)
    weir_fault("${source}: \"${header}\" is above the room ${from}")
  endif()
endfunction()

# One include of a library that only some folders may know.
function(check_library source folder library)
  if(NOT folder IN_LIST ${library}_only)
    weir_fault("${source}: ${library} is not for ${folder}")
  elseif(source MATCHES "\\.hpp$" AND library IN_LIST ${folder}_hides)
    weir_fault("${source}: ${library} belongs in the .cpp files of ${folder}")
  endif()
endfunction()

# What a file reaches through our own headers although rules may not.
function(find_reach out start)
  string(REGEX MATCH "^[a-z_]+/[a-z_]+/" home "${start}")
  set(waiting "${start}")
  set(seen "${start}")
  set(found "")
  while(waiting)
    list(POP_FRONT waiting file)
    read_includes(includes "${file}")
    foreach(include IN LISTS includes)
      if(include MATCHES "${machine_libraries}")
        list(APPEND found "reaches ${include} through ${file}")
      elseif(include MATCHES "\"([^\"]+)\"")
        set(header "${CMAKE_MATCH_1}")
        string(FIND "${header}" "${home}" at_home)
        if(home STREQUAL "")
          set(at_home -1) # A folder without rooms is no home, and "" is anywhere.
        endif()
        if(header MATCHES "${machine_may}" OR at_home EQUAL 0
           OR header MATCHES "^actors/support/")
          if(NOT header IN_LIST seen AND EXISTS "${ROOT}/${header}")
            list(APPEND seen "${header}")
            list(APPEND waiting "${header}")
          endif()
        else()
          list(APPEND found "reaches \"${header}\" through ${file}")
        endif()
      endif()
    endforeach()
  endwhile()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# One file of actors/: rules reach nothing, a shell does.
function(check_rules source)
  find_reach(reached "${source}")
  if(source IN_LIST machines OR source MATCHES "_machine\\.[ch]pp$")
    foreach(fault IN LISTS reached)
      weir_fault("${source}: ${fault}")
    endforeach()
  elseif(NOT reached AND NOT source MATCHES "${bounds}")
    weir_fault("${source}: plain code that is not in the library machines")
  endif()
endfunction()

# One file of messages/: a value that machines may use.
function(check_value source)
  find_reach(reached "${source}")
  foreach(fault IN LISTS reached)
    weir_fault("${source}: ${fault}")
  endforeach()
endfunction()

read_machines(machines)
foreach(folder IN ITEMS base atproto wire net storage messages actors simnet
                        apps bench)
  weir_sources(sources ${folder})
  foreach(source IN LISTS sources)
    read_includes(includes "${source}")
    foreach(include IN LISTS includes)
      if(include MATCHES "\"([^\"]+)\"")
        set(header "${CMAKE_MATCH_1}")
        check_own("${source}" ${folder} "${header}")
        if(DEFINED ${folder}_rooms AND header MATCHES "^${folder}/")
          check_room("${source}" ${folder} "${header}")
        endif()
      elseif(include MATCHES "<(boost/)?(${libraries})[/._]")
        check_library("${source}" ${folder} "${CMAKE_MATCH_2}")
      endif()
    endforeach()
    if(folder STREQUAL "actors")
      check_shell("${source}" "${includes}")
      check_rules("${source}")
    endif()
    if(folder STREQUAL "messages" AND NOT source MATCHES "${caf_messages}")
      check_value("${source}")
    endif()
    if(folder STREQUAL "actors" AND NOT source STREQUAL placement_file)
      weir_read_code(text "${source}")
      if(text MATCHES "${placement_pattern}")
        weir_fault("${source}: only placement says where a DID lives")
      endif()
    endif()
  endforeach()
endforeach()
foreach(source IN LISTS json_shells)
  weir_fault("layers_allowed.txt: ${source} includes not both, or is no more")
endforeach()
weir_finish("includes against the layering")
