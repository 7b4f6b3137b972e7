/** Links between notes help questions over a vault, as docs/decisions/020 says; `npm run bench -- vault` prints the figures. */
import { expect, it } from 'vitest'
import { run } from '../../bench/vault.ts'

it('links between notes rank the right note higher, and no worse where its own words are asked (QE-016)', async () => {
  const rows = await run()
  const ndcg = (of: string, links: 'with' | 'without') =>
    rows.find(({ name }) => name === `${of} questions, ${links} links: nDCG@10`)?.value ?? Number.NaN
  // As measured; runtimes of the model differ by less than 0.01.
  expect(Math.abs(ndcg('hybrid, all', 'without') - 0.698)).toBeLessThan(0.02)
  expect(Math.abs(ndcg('hybrid, all', 'with') - 0.758)).toBeLessThan(0.02)
  for (const mode of ['hybrid', 'words']) {
    for (const kind of ['own', 'linked', 'hub']) {
      expect(ndcg(`${mode}, ${kind}`, 'with'), `${mode}, ${kind}`).toBeGreaterThanOrEqual(
        ndcg(`${mode}, ${kind}`, 'without'),
      )
    }
  }
})
