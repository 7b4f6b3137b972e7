/** The guide to deleting shows what its commands print. */
import { expect, it } from 'vitest'
import { guidePage, pattern, runSession } from '../support/guide-page.ts'
import { tempFolder } from '../support/temp-folder.ts'

it('the guide to deleting shows what its commands print', { timeout: 120_000 }, async () => {
  using folder = tempFolder()
  const steps = await runSession(guidePage('deleting.md'), folder.path, { QUERENT_EMBEDDER: 'none' })
  for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
  expect(steps.length).toBe(7)
})
