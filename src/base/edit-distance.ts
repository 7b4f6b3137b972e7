/** How many edits make one text of another: a letter added, left out or replaced, or two neighbours swapped. */

const rows: readonly number[][] = [[], [], []]

/**
 * Optimal string alignment over UTF-16 units; `most + 1` where it is more than `most`. Costs `a.length × b.length` steps at
 * most, and ends early when no way within `most` is left.
 *
 *     editDistance('emial', 'email', 2)  // 1
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, last, next] = rows as [number[], number[], number[]]
  for (let j = 0; j <= b.length; j++) last[j] = j
  for (let i = 1; i <= a.length; i++) {
    const unit = a.charCodeAt(i - 1)
    next[0] = i
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const other = b.charCodeAt(j - 1)
      let edits = (last[j - 1] as number) + (unit === other ? 0 : 1)
      edits = Math.min(edits, (last[j] as number) + 1, (next[j - 1] as number) + 1)
      if (i > 1 && j > 1 && unit === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other) {
        edits = Math.min(edits, (before[j - 2] as number) + 1)
      }
      next[j] = edits
      if (edits < least) least = edits
    }
    // A swap goes back two rows, so one row above the bound does not end it.
    if (least > most && Math.min(...last.slice(0, b.length + 1)) > most) return most + 1
    ;[before, last, next] = [last, next, before]
  }
  return Math.min(last[b.length] as number, most + 1)
}
