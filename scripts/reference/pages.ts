/** Every page of the reference, by its path in the repository. */
import { fileURLToPath } from 'node:url'
import { errorsPage } from './errors-page.ts'
import { withKnown } from './known.ts'
import { operationsPage } from './operations-page.ts'
import { settingsPage } from './settings-page.ts'

export const root: string = fileURLToPath(new URL('../../', import.meta.url))

export function referencePages(): Promise<ReadonlyMap<string, string>> {
  return withKnown(
    known =>
      new Map([
        ['docs/reference/operations.md', operationsPage(known)],
        ['docs/reference/errors.md', errorsPage()],
        ['docs/reference/settings.md', settingsPage(known)],
      ]),
  )
}
