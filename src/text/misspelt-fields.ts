/** Words that look like a field condition with a slip in the name. They are searched as text; a note says so. */
import { editDistance } from '../base/near-names.ts'
import type { FieldName } from '../model/filter.ts'
import type { QueryToken } from '../model/plan.ts'

export interface MisspeltField {
  readonly written: string
  readonly meant: FieldName
}

/** At most five; one slip (a letter wrong, missing, too many or swapped) or only the case is wrong. */
export function misspeltFields(tokens: readonly QueryToken[], fields: readonly FieldName[]): readonly MisspeltField[] {
  const found: MisspeltField[] = []
  for (const token of tokens) {
    if (found.length === 5) break
    const written =
      token.kind === 'word' && !token.glued ? /^([A-Za-z_]{2,20}):[^\s:/]/.exec(token.text)?.[1] : undefined
    const meant = written === undefined ? undefined : fields.find(field => isSlip(written.toLowerCase(), field))
    if (written !== undefined && meant !== undefined && written !== meant) found.push({ written, meant })
  }
  return found
}

/** Short names are too near to everything: there only the case may be wrong. */
function isSlip(written: string, field: FieldName): boolean {
  if (written === field) return true
  return field.length >= 4 && written[0] === field[0] && editDistance(written, field, 1) === 1
}
