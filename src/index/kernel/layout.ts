/**
 * Memory layout of the rows (encoded vectors). The memory after the scratch area is divided into pages of 4,096 slots (page of a slot: slot
 * >> 12), which hold their rows column by column: sign codes, int8 components, scales (f32), entry keys (u32), then columns that only the
 * JavaScript code reads. An extent is a run of slots inside one page; extent tables are pairs (first slot, number of slots).
 */
let pagesAt: usize = 0
let pageBytes: usize = 0
let int8At: usize = 0
let scaleAt: usize = 0
let entryAt: usize = 0

/**
 * `codeBytes`: number of bytes of a row's sign code. `width`: number of components of a row, which is padded with zeros to a multiple of
 * 64.
 */
export let codeBytes: usize = 0
export let width: usize = 0

export function configure(pages: usize, bytes: usize, components: usize, int8: usize, scale: usize, entry: usize): void {
  pagesAt = pages
  pageBytes = bytes
  width = components
  codeBytes = components >> 3
  int8At = int8
  scaleAt = scale
  entryAt = entry
}

// @ts-ignore: decorator
@inline
function pageOf(slot: u32): usize {
  return pagesAt + <usize>(slot >> 12) * pageBytes
}

// @ts-ignore: decorator
@inline
export function codeOf(slot: u32): usize {
  return pageOf(slot) + <usize>(slot & 4095) * codeBytes
}

// @ts-ignore: decorator
@inline
export function int8Of(slot: u32): usize {
  return pageOf(slot) + int8At + <usize>(slot & 4095) * width
}

// @ts-ignore: decorator
@inline
export function scaleOf(slot: u32): usize {
  return pageOf(slot) + scaleAt + (<usize>(slot & 4095) << 2)
}

// @ts-ignore: decorator
@inline
export function entryOf(slot: u32): usize {
  return pageOf(slot) + entryAt + (<usize>(slot & 4095) << 2)
}

/** Whether the bit set at `bits` holds the entry of the row. */
// @ts-ignore: decorator
@inline
export function allows(bits: usize, slot: u32): bool {
  const entry = load<u32>(entryOf(slot))
  return ((load<u32>(bits + (<usize>(entry >> 5) << 2)) >> (entry & 31)) & 1) != 0
}
