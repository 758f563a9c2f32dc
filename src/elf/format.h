// The parts of the ELF specification that the linker writes, spelled as there (System V ABI, chapters 4 and 5).
#pragma once
#include <cstdint>

namespace mica::elf {

struct Elf64_Ehdr {
  unsigned char e_ident[16];
  uint16_t e_type, e_machine;
  uint32_t e_version;
  uint64_t e_entry, e_phoff, e_shoff;
  uint32_t e_flags;
  uint16_t e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx;
};

struct Elf64_Phdr {
  uint32_t p_type, p_flags;
  uint64_t p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
};

struct Elf64_Shdr {
  uint32_t sh_name, sh_type;
  uint64_t sh_flags, sh_addr, sh_offset, sh_size;
  uint32_t sh_link, sh_info;
  uint64_t sh_addralign, sh_entsize;
};

struct Elf64_Sym {
  uint32_t st_name;
  uint8_t st_info, st_other;
  uint16_t st_shndx;
  uint64_t st_value, st_size;
};

static_assert(sizeof(Elf64_Ehdr) == 64 && sizeof(Elf64_Phdr) == 56 && sizeof(Elf64_Shdr) == 64 && sizeof(Elf64_Sym) == 24);

enum : uint16_t { ET_EXEC = 2, EM_X86_64 = 62, EM_AARCH64 = 183 };
enum : uint32_t { PT_LOAD = 1, PT_NOTE = 4, PT_PHDR = 6, PT_GNU_STACK = 0x6474e551 };
enum : uint32_t { PF_X = 1, PF_W = 2, PF_R = 4 };
enum : uint32_t { SHT_NULL = 0, SHT_PROGBITS = 1, SHT_SYMTAB = 2, SHT_STRTAB = 3, SHT_NOTE = 7, SHT_NOBITS = 8 };
enum : uint64_t { SHF_WRITE = 1, SHF_ALLOC = 2, SHF_EXECINSTR = 4 };
enum : uint8_t { STB_GLOBAL = 1, STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2 };
enum : uint32_t { NT_GNU_BUILD_ID = 3 };

}  // namespace mica::elf
