/** The search view and the page of an entry, in a real browser before a real server. */
import { beforeEach, expect, it } from 'vitest'
import { guidePage } from '../support/guide-page.ts'
import { exploredWorld } from './explored-world.ts'
import { describeInBrowser, expectGoodLooks, keepScreenshot } from './support.ts'
import { HOSTILE } from './world.ts'

describeInBrowser('the search view', () => {
  const opened = exploredWorld()
  beforeEach(() => {
    opened.explorer.errors.length = 0
  })
  const results = () => opened.explorer.page.locator('.result')
  const shown = () => results().count()
  const noErrors = () => expect(opened.explorer.errors).toEqual([])

  it('shows what there is to ask about before anything is asked', async () => {
    const { page, open } = opened.explorer
    await open('')
    await page.getByRole('button', { name: /^sightings/ }).waitFor()
    await expectGoodLooks(page, 'search-welcome')
    noErrors()
  })

  it('answers with excerpts, marked hits, scores and their parts; the question is in the address', async () => {
    const { page, open } = opened.explorer
    await open('')
    await page.getByRole('combobox', { name: 'Question' }).fill('when is a backup restored?')
    await page.keyboard.press('Enter')
    await results().first().waitFor()
    expect(await results().first().locator('h2').textContent()).toContain('Backup policy')
    expect(await results().first().locator('mark').count()).toBeGreaterThan(0)
    expect(await results().first().locator('.score-bar-parts').textContent()).toContain('words')
    expect(new URL(page.url()).hash).toBe('#/search?q=when+is+a+backup+restored%3F')
    await page.getByText('stages,').click()
    expect(await page.locator('.trace tbody th').allTextContents()).toContain('retrieve')
    await expectGoodLooks(page, 'search-answer')
    noErrors()
  })

  it('opens a result: reasons down to leaves that come to its score', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=backup+restored')
    await results().first().getByRole('button', { name: 'Why' }).click()
    await results().first().getByText('which is the score').waitFor()
    expect(await results().first().locator('.explanation-tree li').count()).toBeGreaterThan(4)
    await expectGoodLooks(page, 'search-why')
    noErrors()
  })

  it('says why this over that when two are picked', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=falcon+seen')
    await results().nth(0).getByRole('button', { name: 'Compare' }).click()
    await page.getByText('is picked').waitFor()
    await results().nth(5).getByRole('button', { name: 'Compare' }).click()
    await page.locator('.comparison tfoot').waitFor()
    expect(await page.locator('.comparison tfoot td').first().textContent()).toMatch(/^\+0\.\d{4}$/)
    expect(await page.locator('.comparison').textContent()).toMatch(/swap (?:places|them)/)
    await expectGoodLooks(page, 'search-comparison')
    await page.keyboard.press('Escape')
    await page.locator('.comparison').waitFor({ state: 'detached' })
    noErrors()
  })

  it('gives further results, none twice, until there are no more', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=falcon+seen')
    for (const count of [20, 25]) {
      await page.getByRole('button', { name: 'More results' }).click()
      await expect.poll(shown).toBe(count)
    }
    await expect.poll(() => page.getByRole('button', { name: 'More results' }).count()).toBe(0)
    const titles = await results().locator('h2 a').allTextContents()
    expect(new Set(titles).size).toBe(25)
    noErrors()
  })

  it('is used by keys alone', async () => {
    const { page, open } = opened.explorer
    const focused = () => page.evaluate(() => document.activeElement?.querySelector('h2')?.textContent ?? '')
    await open('#/search?q=falcon+seen')
    await results().first().waitFor()
    await page.keyboard.press('/')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('q')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toMatch(/^1\./)
    await page.keyboard.press('j')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('k')
    expect(await focused()).toMatch(/^2\./)
    await page.keyboard.press('Enter')
    await results().nth(1).getByText('which is the score').waitFor()
    await page.keyboard.press('c')
    await page.keyboard.press('j')
    await page.keyboard.press('c')
    await page.locator('.comparison tfoot').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.comparison, .explanation').count()).toBe(0)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    const rows = guidePage('explorer.md').matchAll(/^\| (`.*`) \| (.*) \|$/gm)
    const written = [...rows].map(([, keys = '', what]) => keys.replaceAll('`', '') + what)
    expect(await page.getByRole('dialog').locator('dl > div').allTextContents()).toEqual(written)
    await expectGoodLooks(page, 'keys')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    noErrors()
  })

  it('completes names as they are typed, and questions that were asked before', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=falcon+asked+before')
    await page.locator('.answer-head').waitFor()
    await open('')
    const field = page.getByRole('combobox', { name: 'Question' })
    await field.pressSequentially('tag:bi')
    await page.getByRole('option', { name: /^birds/ }).waitFor()
    await keepScreenshot(page, 'search-suggestions')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await field.inputValue()).toBe('tag:birds ')
    await field.fill('falc')
    await page
      .getByRole('option', { name: /asked before/ })
      .first()
      .waitFor()
    noErrors()
  })

  it('narrows by collection, tag and date, and chooses lens and mode', async () => {
    const { page, open } = opened.explorer
    await open('')
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('All of these tags').fill('birds')
    await page.keyboard.press('Enter')
    await expect.poll(shown).toBe(10)
    expect(await page.locator('.verdict').textContent()).toContain('a list by conditions')
    await page.getByLabel('Search by').selectOption('words')
    await page.getByLabel('Lens').selectOption('default')
    await page.getByLabel('and before').fill('2001-01-01')
    await page.getByText('No results').waitFor()
    await page.getByText('No entry that you may see fulfils all of them').waitFor()
    expect(await page.getByRole('button', { name: 'Show what comes nearest' }).count()).toBe(0)
    expect(new URL(page.url()).hash).toBe('#/search?lens=default&mode=words&tag=birds&before=2001-01-01')
    await expectGoodLooks(page, 'search-filters')
    noErrors()
  })

  it('says when nothing relevant is known, and what is wrong with a question', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=xylophone+quasar+zeppelin')
    await page.getByText('Nothing relevant').waitFor()
    await expectGoodLooks(page, 'search-nothing')
    noErrors()
    await open('#/search?lens=nowhere&q=hello')
    await page.getByRole('alert').getByText('unknown_lens').waitFor()
    await expectGoodLooks(page, 'search-refused')
  })

  it('shows what is stored as text: nothing of it is run, in results, on its page and in the title', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=kestrel+bold')
    await results().first().getByText('<b>bold</b>').first().waitFor()
    await results().first().locator('h2 a').click()
    await page.getByRole('region', { name: 'Content' }).waitFor()
    expect(await page.getByRole('region', { name: 'Content' }).textContent()).toBe(HOSTILE)
    expect(await page.evaluate(() => 'hostile' in window)).toBe(false)
    expect(await page.locator('main img, main script').count()).toBe(0)
    noErrors()
  })

  it('shows an entry whole, with its facts and what is like it', async () => {
    const { page, open } = opened.explorer
    await open('#/search?q=backup+restored')
    await results().first().locator('h2 a').click()
    await page.getByRole('heading', { level: 1, name: 'Backup policy' }).waitFor()
    expect(await page.getByRole('region', { name: 'Content' }).textContent()).toContain('## When a disk dies')
    await expectGoodLooks(page, 'entry')
    await page.getByRole('tab', { name: 'Links' }).click()
    await page.getByText('No links from here or to here').waitFor()
    await page.getByRole('tab', { name: 'Similar' }).click()
    await page.locator('.similar li').first().waitFor()
    await expectGoodLooks(page, 'entry-similar')
    await page.getByRole('link', { name: /Back to the search/ }).click()
    await results().first().waitFor()
    noErrors()
    // As the server would tell it of a note in a vault.
    await page.route('**/v1/ops/get', async route => {
      const answer = await (await route.fetch()).json()
      const named = (title: string) => ({ id: `notes/${title}`, title })
      const links = [named('login-flow.md')]
      await route.fulfill({ json: { ...answer, links, backlinks: [named('team-offsite.md')] } })
    })
    await results().first().locator('h2 a').click()
    await page.getByRole('tab', { name: 'Links' }).click()
    await expectGoodLooks(page, 'entry-links')
    expect(await page.locator('.similar a').allTextContents()).toEqual(['login-flow.md', 'team-offsite.md'])
    await page.unroute('**/v1/ops/get')
    await page.getByRole('link', { name: 'team-offsite.md' }).click()
    await page.getByRole('heading', { level: 1, name: 'Team offsite' }).waitFor()
    noErrors()
    await open('#/search/entry/no-such-entry')
    await page.getByRole('alert').getByText('not_found').waitFor()
  })
})
