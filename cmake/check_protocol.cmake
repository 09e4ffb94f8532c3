# Fails when docs/protocol-coverage.md or docs/hostile-inputs.md does not hold: a
# rule or threat without a test or a reason, a test that does not exist or does
# not name the rule, a rule, vector or threat left out.
# CTest runs: cmake -DROOT=<source dir> [-DSHARED=<dir>] \
#                   -P cmake/check_protocol.cmake
#
# A rule's row is "| id | rule | tests |", a vector's
# "| vectors/path | files | tests | what |"; tests are Suite.Name, separated by
# <br>, or "none: reason". A test names its rules in the comment above it:
# "// protocol.md 2.5.3, 2.5.4". Rules and vectors are compared with the shared
# folder where there is one.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(page "docs/protocol-coverage.md")
set(id_pattern "[0-9]+(\\.t?[0-9]+)+")
set(tests "") # Suite.Name
set(names "") # Suite.Name=id, for every rule that a test names

# -- every test there is, and the rules it names -------------------------------
function(read_test source comment name)
  set(tests ${tests} ${name} PARENT_SCOPE)
  string(REPLACE "\n// " " " comment "${comment}")
  string(REGEX MATCHALL "protocol\\.md [0-9t., ]+" lists "${comment}")
  string(REGEX MATCHALL "${id_pattern}" ids "${lists}")
  set(found ${names})
  foreach(id IN LISTS ids)
    list(APPEND found "${name}=${id}")
    set_property(GLOBAL APPEND PROPERTY named "${id}=${source}")
  endforeach()
  set(names ${found} PARENT_SCOPE)
endfunction()

weir_sources(sources tests)
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  string(REGEX REPLACE "[][;\\]" " " text "\n${text}")
  string(REGEX MATCHALL
    "\n(//[^\n]*\n)*TEST(_F|_P)?\\([A-Za-z0-9_]+,[ \n]*[A-Za-z0-9_]+\\)" blocks
    "${text}")
  foreach(block IN LISTS blocks)
    string(REGEX MATCH
      "TEST[_FP]*\\(([A-Za-z0-9_]+),[ \n]*([A-Za-z0-9_]+)\\)$" macro "${block}")
    set(name "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
    string(REPLACE "${macro}" "" comment "${block}")
    read_test("${source}" "${comment}" "${name}")
  endforeach()
endforeach()

# -- every row -----------------------------------------------------------------

# check_proofs(<what> <tests of a row> <rule they must name, or "">)
function(check_proofs what proofs rule)
  if(proofs MATCHES "^none: .")
    return()
  endif()
  string(REGEX REPLACE " *<br> *" ";" proofs "${proofs}")
  foreach(proof IN LISTS proofs)
    if(NOT proof IN_LIST tests)
      weir_fault("${what}: no such test: ${proof}")
    elseif(rule AND NOT "${proof}=${rule}" IN_LIST names)
      weir_fault("${what}: ${proof} does not name it")
    endif()
  endforeach()
endfunction()

if(NOT EXISTS "${ROOT}/${page}")
  message(FATAL_ERROR "no such file: ${page}")
endif()
set(rules "")
file(STRINGS "${ROOT}/${page}" rows REGEX "^\\| *[0-9]")
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^\\| (${id_pattern}) \\| [^|]+ \\| ([^|]*[^| ]) \\|$")
    weir_fault("not a row: ${row}")
    continue()
  endif()
  set(rule "${CMAKE_MATCH_1}")
  set(proofs "${CMAKE_MATCH_3}")
  if(rule IN_LIST rules)
    weir_fault("${rule}: two rows")
  endif()
  list(APPEND rules "${rule}")
  check_proofs("${rule}" "${proofs}" "${rule}")
endforeach()

set(vectors "")
file(STRINGS "${ROOT}/${page}" rows REGEX "^\\| *vectors/")
foreach(row IN LISTS rows)
  if(NOT row MATCHES
     "^\\| (vectors/[^ |]+) \\| ([0-9]+) \\| ([^|]*[^| ]) \\| [^|]+ \\|$")
    weir_fault("not a row: ${row}")
    continue()
  endif()
  list(APPEND vectors "${CMAKE_MATCH_1}=${CMAKE_MATCH_2}")
  check_proofs("${CMAKE_MATCH_1}" "${CMAKE_MATCH_3}" "")
endforeach()

# A test may name a whole section, but no rule that the page does not have.
get_property(named GLOBAL PROPERTY named)
list(REMOVE_DUPLICATES named)
foreach(each IN LISTS named)
  string(REGEX MATCH "^(.*)=(.*)$" each "${each}")
  set(rule "${CMAKE_MATCH_1}")
  set(source "${CMAKE_MATCH_2}")
  string(REPLACE "." "\\." section "${rule}")
  if(NOT rule IN_LIST rules AND NOT "${rules}" MATCHES "(^|;)${section}\\.")
    weir_fault("${source}: names rule ${rule}, which has no row")
  endif()
endforeach()

# -- every rule ----------------------------------------------------------------

# The rules of a section are its numbered items, or else its bullets and table
# rows in their order. Beside numbered items or subsections, table rows are t1,
# t2 and so on. N.0 is what stands above the first rule.
function(add_rule rule)
  set_property(GLOBAL APPEND PROPERTY wanted "${rule}")
endfunction()

function(read_section number lines)
  set(prefix "${number}.")
  if("${lines}" MATCHES ";[0-9]+\\. " OR number STREQUAL "2")
    set(prefix "${number}.t")
  endif()
  set(count 0)
  set(previous "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([0-9]+)\\. ")
      add_rule("${number}.${CMAKE_MATCH_1}")
    elseif(line MATCHES "^- ")
      math(EXPR count "${count} + 1")
      add_rule("${prefix}${count}")
    elseif(line MATCHES "^\\|--")
      set(previous "")
    endif()
    if(previous) # A row, and no head of a table: that is followed by |--.
      math(EXPR count "${count} + 1")
      add_rule("${prefix}${count}")
    endif()
    set(previous "")
    if(line MATCHES "^\\|[^-]")
      set(previous "${line}")
    endif()
  endforeach()
endfunction()

# The last section has its numbers inside the lines.
function(read_differences number text)
  string(REGEX MATCHALL " [0-9]+\\. " found "${text}")
  foreach(each IN LISTS found)
    string(REGEX MATCH "[0-9]+" each "${each}")
    add_rule("${number}.${each}")
  endforeach()
endfunction()

if(EXISTS "${SHARED}/spec/protocol.md")
  file(READ "${SHARED}/spec/protocol.md" text)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  # A section begins with "## 2. Title" or "2.1 Title".
  string(REGEX REPLACE "\n## ([0-9]+)\\. " "\n\t\\1 " text "${text}")
  string(REGEX REPLACE "\n([0-9]+\\.[0-9]+) " "\n\t\\1 " text "${text}")
  string(REPLACE "\n\t" ";" sections "${text}")
  list(POP_FRONT sections)
  foreach(section IN LISTS sections)
    string(REGEX MATCH "^[0-9.]+" number "${section}")
    string(REPLACE "\n" ";" lines "${section}\n")
    string(REPLACE "\n" " " line "${section}")
    if(number STREQUAL "11")
      read_differences("${number}" "${line}")
    else()
      read_section("${number}" "${lines}")
    endif()
  endforeach()
  get_property(wanted GLOBAL PROPERTY wanted)
  foreach(rule IN LISTS wanted)
    if(NOT rule IN_LIST rules)
      weir_fault("${rule}: no row")
    endif()
  endforeach()
  foreach(rule IN LISTS rules)
    if(NOT rule IN_LIST wanted AND NOT rule MATCHES "^[0-9]+\\.0$")
      weir_fault("${rule}: no such rule")
    endif()
  endforeach()
endif()

# -- every vector --------------------------------------------------------------
if(EXISTS "${SHARED}/vectors")
  file(GLOB_RECURSE files RELATIVE "${SHARED}" "${SHARED}/vectors/*")
  list(FILTER files EXCLUDE REGEX "/(SOURCE\\.md|README\\.md|LICENSE[^/]*)$")
  foreach(each IN LISTS vectors)
    string(REGEX MATCH "^(.*)=(.*)$" each "${each}")
    set(path "${CMAKE_MATCH_1}")
    set(wanted_count "${CMAKE_MATCH_2}")
    set(count 0)
    set(left "")
    foreach(file IN LISTS files)
      string(FIND "${file}" "${path}" at)
      if(at EQUAL 0)
        math(EXPR count "${count} + 1")
      else()
        list(APPEND left "${file}")
      endif()
    endforeach()
    set(files ${left})
    if(NOT count EQUAL wanted_count)
      weir_fault("${path}: ${count} files, not ${wanted_count}")
    endif()
  endforeach()
  foreach(file IN LISTS files)
    weir_fault("${file}: no row")
  endforeach()
endif()

# -- every threat --------------------------------------------------------------

# A row is "| 2.1.3 | threat | bound | tests | where |", in the order of the
# threat model's tables. Where is "open" with "none: reason", and only then.
set(threats "")
file(STRINGS "${ROOT}/docs/hostile-inputs.md" rows REGEX "^\\| *[0-9]")
foreach(row IN LISTS rows)
  string(REGEX MATCH
    "^\\| (2\\.[0-9]+\\.[0-9]+) \\| [^|]+ \\| [^|]+ \\| ([^|]*[^| ]) \\| ([a-z]+) \\|$"
    found "${row}")
  set(threat "${CMAKE_MATCH_1}")
  set(proofs "${CMAKE_MATCH_2}")
  set(where "${CMAKE_MATCH_3}")
  if(NOT found OR NOT where MATCHES "^(program|library|both|open)$")
    weir_fault("not a row: ${row}")
    continue()
  endif()
  if(threat IN_LIST threats)
    weir_fault("${threat}: two threats")
  endif()
  list(APPEND threats "${threat}")
  if(proofs MATCHES "^none: ." AND NOT where STREQUAL "open")
    weir_fault("${threat}: no test, but not open")
  endif()
  check_proofs("${threat}" "${proofs}" "")
endforeach()

if(EXISTS "${SHARED}/design/reliability.md")
  file(STRINGS "${SHARED}/design/reliability.md" lines REGEX "^(### 2\\.|\\|)")
  set(section "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^### (2\\.[123]) ")
      set(section "${CMAKE_MATCH_1}")
      set(count -1) # Of rows; the table's head is none.
    elseif(line MATCHES "^### ")
      set(section "")
    elseif(section AND NOT line MATCHES "^\\|--")
      math(EXPR count "${count} + 1")
      if(count GREATER 0 AND NOT "${section}.${count}" IN_LIST threats)
        weir_fault("${section}.${count}: no threat")
      endif()
    endif()
  endforeach()
endif()
weir_finish("${page} or docs/hostile-inputs.md does not hold")
