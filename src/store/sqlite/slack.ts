/**
 * The room of a page that no cell uses, as the file format has it (sqlite.org/fileformat2, b-tree pages). SQLite overwrites
 * the cells that it drops (`secure_delete`), but not what stays behind in this room when it packs the cells of a page anew.
 */

/** From where to where, within the page. */
export interface Slack {
  readonly from: number
  readonly to: number
}

/** Of the header of the file, which stands before that of the first page. */
const FILE_HEADER = 100
/** Header of a page by what it is: inner pages of indexes and tables, leaves of indexes and tables. */
const HEADERS: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }

/**
 * Null: it is no page of a tree, or not certain to be one. Pages of long texts and of the list of free pages begin with the
 * number of another page, so that up to 2^25 pages their first byte is none of a tree; in larger files the rest tells.
 * `usable`: bytes of a page that SQLite uses. `isFirst`: it is the first of the file.
 */
export function slackOf(page: Buffer, usable: number, isFirst: boolean): Slack | null {
  const at = isFirst ? FILE_HEADER : 0
  const header = HEADERS[page[at] as number]
  if (header === undefined) return null
  const [firstFree, cells, start] = [page.readUInt16BE(at + 1), page.readUInt16BE(at + 3), page.readUInt16BE(at + 5)]
  const from = at + header + 2 * cells
  // No room for it in two bytes: 0 stands for 65,536.
  const to = start === 0 ? 65_536 : start
  if (from > to || to > usable || (firstFree !== 0 && firstFree < to)) return null
  for (let cell = at + header; cell < from; cell += 2) {
    const place = page.readUInt16BE(cell)
    if (place < to || place >= usable) return null
  }
  return { from, to }
}

/** Whether something but zeros stands in it. */
export function isDirty(page: Buffer, { from, to }: Slack): boolean {
  return ZEROS.compare(page, from, to, 0, to - from) !== 0
}

/** As much as the largest page has. */
export const ZEROS: Buffer = Buffer.alloc(65_536)
