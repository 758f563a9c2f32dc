// The numbers of DWARF 4 that the linker writes, spelled as in the standard.
#pragma once
#include <cstdint>

namespace mica::elf {

enum : uint8_t {
  DW_TAG_compile_unit = 0x11, DW_TAG_inlined_subroutine = 0x1d, DW_TAG_subprogram = 0x2e,
  DW_CHILDREN_no = 0, DW_CHILDREN_yes = 1,
  DW_AT_name = 0x03, DW_AT_stmt_list = 0x10, DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12, DW_AT_language = 0x13, DW_AT_inline = 0x20,
  DW_AT_producer = 0x25, DW_AT_abstract_origin = 0x31, DW_AT_decl_file = 0x3a, DW_AT_decl_line = 0x3b, DW_AT_external = 0x3f,
  DW_AT_call_column = 0x57, DW_AT_call_file = 0x58, DW_AT_call_line = 0x59,
  DW_FORM_addr = 0x01, DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07, DW_FORM_string = 0x08, DW_FORM_data1 = 0x0b,
  DW_FORM_udata = 0x0f, DW_FORM_ref4 = 0x13, DW_FORM_sec_offset = 0x17, DW_FORM_flag_present = 0x19,
  DW_LANG_C99 = 0x0c, DW_INL_inlined = 1,
  DW_LNS_copy = 1, DW_LNS_advance_pc = 2, DW_LNS_advance_line = 3, DW_LNS_set_file = 4, DW_LNS_set_column = 5,
  DW_LNE_end_sequence = 1, DW_LNE_set_address = 2,
  DW_CFA_def_cfa = 0x0c, DW_CFA_def_cfa_register = 0x0d, DW_CFA_def_cfa_offset = 0x0e, DW_CFA_undefined = 0x07,
  DW_CFA_advance_loc = 0x40, DW_CFA_offset = 0x80,
};

}  // namespace mica::elf
