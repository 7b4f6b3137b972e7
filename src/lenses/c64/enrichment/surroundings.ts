/** What stands before a number, as far as it can tell anything about it. */

/** Longer than any word that is looked for and the blanks behind it; keeps reading a long question linear. */
const NEAR = 48

/** In UTF-16 units; ends at `at`. */
export function textBefore(query: string, at: number): string {
  return query.slice(Math.max(0, at - NEAR), at)
}
