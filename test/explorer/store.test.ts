/** The store view: numbers, lists in pages, the doctor; embedding as it goes on. */
import { expect, it } from 'vitest'
import { exploredWorld } from './explored-world.ts'
import { describeInBrowser, expectGoodLooks, openExplorer } from './support.ts'

describeInBrowser('the store view', () => {
  const opened = exploredWorld()

  it('says what the store holds, and follows what is written to it', async () => {
    const { page, open, errors } = opened.explorer
    await open('#/store')
    const { entries } = await opened.world.call('status', {})
    const number = page.locator('.store-numbers div', { hasText: 'Entries' }).locator('dd')
    await number.waitFor()
    expect(await number.textContent()).toBe(String(entries))
    await page.getByRole('link', { name: 'sightings' }).waitFor()
    expect(await page.getByRole('region', { name: 'Indexes' }).textContent()).toContain('words')
    await expectGoodLooks(page, 'store')
    await opened.world.call('put', { entries: [{ id: 'zz-one-more', content: 'one more', visibility: 'public' }] })
    await expect.poll(() => number.textContent()).toBe(String(Number(entries) + 1))
    expect(errors).toEqual([])
  })

  it('lists entries page by page', async () => {
    const { page, open, errors } = opened.explorer
    await open('#/store')
    const list = page.getByRole('region', { name: 'Entries' })
    await expect.poll(() => list.getByRole('status').textContent()).toMatch(/^1 to 25 of /)
    const newest = await list.locator('li').first().textContent()
    await list.getByLabel('Order').selectOption('id')
    await expect.poll(() => list.locator('li').first().textContent()).not.toBe(newest)
    const first = await list.locator('li').first().textContent()
    await list.getByRole('button', { name: 'Next' }).click()
    await expect.poll(() => list.getByRole('status').textContent()).toMatch(/^26 to /)
    await list.getByRole('button', { name: 'Before' }).click()
    await expect.poll(() => list.locator('li').first().textContent()).toBe(first)
    expect(errors).toEqual([])
  })

  it('shows how far everything is embedded, as it goes on', async () => {
    await using embedding = await openExplorer({ home: opened.world.home, env: { QUERENT_EMBEDDER: 'local' } })
    const { page, errors } = embedding
    await embedding.open('#/store')
    const region = page.getByRole('region', { name: 'Embedding' })
    await region.getByRole('progressbar').waitFor()
    await expect.poll(() => region.getByRole('status').textContent()).toBe('Everything is embedded.')
    expect(await region.getByRole('progressbar').getAttribute('value')).toBe('1')
    await embedding.open('#/search?q=a+copy+that+was+tried+out')
    await page.locator('.result').first().waitFor()
    expect(await page.locator('.verdict').textContent()).toContain('by words and meaning100% embedded')
    await expectGoodLooks(page, 'search-meaning')
    expect(errors).toEqual([])
  })

  it('examines the store for its owner', async () => {
    const { page, open, errors } = opened.explorer
    await open('#/store')
    await page.getByRole('button', { name: 'Examine' }).click()
    await page.getByText('All is well.').waitFor()
    expect(await page.locator('.store-findings li').count()).toBeGreaterThan(3)
    await page.getByRole('region', { name: 'Doctor' }).scrollIntoViewIfNeeded()
    await expectGoodLooks(page, 'store-doctor')
    expect(errors).toEqual([])
  })
})
