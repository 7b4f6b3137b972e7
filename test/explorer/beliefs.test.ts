/** Beliefs of the sample, looked at by several of its agents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DIMENSIONS } from '../../src/lenses/beliefs/dimensions.ts'
import { querentHere } from '../support/in-process.ts'
import { describeInBrowser, type Explorer, expectGoodLooks, openExplorer } from './support.ts'
import { HOSTILE } from './world.ts'

const QUESTION = 'do mRNA vaccines rewrite DNA'

describeInBrowser('the beliefs view', () => {
  const folder = mkdtempSync(join(tmpdir(), 'querent-beliefs-'))
  const home = join(folder, 'home')
  let explorer: Explorer
  beforeAll(async () => {
    const env = { QUERENT_EMBEDDER: 'local' } // what speaks against a belief is looked for among those near in meaning
    expect(await querentHere(['beliefs', 'sample', '--home', home], { cwd: folder, env })).toMatchObject({ status: 0 })
    explorer = await openExplorer({ home, env })
  })
  afterAll(async () => {
    await explorer?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  it('answers three agents differently, at once when the viewer changes, in the order of the API', async () => {
    const { page, open, errors } = explorer
    await open(`#/beliefs?q=${encodeURIComponent(QUESTION)}`)
    const seen: string[] = []
    for (const viewer of ['contrarian', 'quantum-lab', 'my-agent-uuid']) {
      await lookAs(viewer)
      const { beliefs } = await ask('beliefs.query', viewer, {
        semantic: QUESTION,
        options: { scope: { local: true, federated: true, network: true }, limit: 10, dry_run: true },
      })
      const contents = beliefs.map(({ belief }: { belief: { content: string } }) => belief.content)
      await expect.poll(() => page.locator('.beliefs-result a').allTextContents()).toEqual(contents)
      seen.push(contents.join('\n'))
    }
    expect(new Set(seen).size).toBe(3)
    const first = page.locator('.beliefs-result').first()
    await first.getByText('Why it has this rank').click()
    await first.getByText('which is the score').waitFor()
    await first.getByText('Whose trust that is').waitFor()
    await expectGoodLooks(page, 'beliefs')
    expect(errors).toEqual([])
  })

  it('shows a belief: its sureness as the API tells it, its times, what it rests on, what speaks against it', async () => {
    const { page, open, errors } = explorer
    await lookAs('my-agent-uuid')
    await open(`#/beliefs/br-no-dna?q=${encodeURIComponent(QUESTION)}`)
    await page.getByRole('heading', { name: 'How sure it is' }).waitFor()
    const { belief } = await ask('beliefs.get', 'my-agent-uuid', { belief_id: 'br-no-dna' })
    const shown = await page.locator('.beliefs-numbers td').allTextContents()
    const reported = DIMENSIONS.map(name => belief.confidence[name])
    expect(shown.map(Number)).toEqual(reported)
    const label = await page.locator('.beliefs-radar').getAttribute('aria-label')
    for (const value of reported) expect(label).toContain(` ${value}`)
    await page.getByRole('link', { name: 'Side by side with e3-dna' }).waitFor()
    await page.getByText('which is the score').waitFor()
    await expectGoodLooks(page, 'belief')
    expect(errors).toEqual([])
  })

  it('tells what was held at a moment of the past', async () => {
    const { page, open, errors } = explorer
    await lookAs('my-agent-uuid')
    const { beliefs } = await ask('beliefs.query', 'my-agent-uuid', {
      semantic: '',
      filters: { visibility_levels: ['public', 'private'] },
      options: { scope: { local: true, federated: true, network: true }, limit: 1000, dry_run: true },
    })
    type Held = { readonly belief: { readonly id: string; readonly version: number; readonly content: string } }
    const renewed = (beliefs as readonly Held[]).find(({ belief }) => belief.version > 1)
    expect(renewed).toBeDefined()
    await open(`#/beliefs/${renewed?.belief.id}`)
    const slider = page.getByRole('slider', { name: 'As of' })
    await slider.focus()
    const state = page.locator('.beliefs-timeline [role="status"]')
    await expect.poll(() => state.textContent()).toContain(`version ${renewed?.belief.version} was held`)
    await page.keyboard.press('Home')
    await expect.poll(() => state.textContent()).toContain('nothing of this was held yet')
    // A thumb is 16 pixels wide, and its middle stays half of that from the ends.
    const [line, range] = [await page.locator('.beliefs-moment').boundingBox(), await slider.boundingBox()]
    expect(Math.abs((line?.x ?? 0) + 1 - ((range?.x ?? 0) + 8))).toBeLessThanOrEqual(2)
    expect(errors).toEqual([])
  })

  it('follows a derivation step by step', async () => {
    const { page, open, errors } = explorer
    await lookAs('my-agent-uuid')
    await open('#/beliefs/my-climate-warming')
    const tree = page.locator('.beliefs-tree').first()
    await tree.locator('> li').first().waitFor()
    const { chain } = await ask('beliefs.derivation', 'my-agent-uuid', {
      belief_id: 'my-climate-warming',
      max_depth: 1,
    })
    expect(await tree.locator('> li > a').allTextContents()).toEqual(
      chain.slice(1).map((link: { content_preview: string }) => link.content_preview),
    )
    await tree.getByText('What that rests on').first().click()
    await expect.poll(() => tree.locator('details[open]').first().textContent()).toMatch(/confidence|names no belief/)
    expect(errors).toEqual([])
  })

  it('sets both sides of a contradiction next to each other, with what would turn them', async () => {
    const { page, open, errors } = explorer
    await lookAs('my-agent-uuid')
    await open(`#/beliefs/br-no-dna/e3-dna?q=${encodeURIComponent(QUESTION)}`)
    await page.getByRole('heading', { name: 'What would turn them' }).waitFor()
    await expect.poll(() => page.locator('.beliefs-radar').count()).toBe(2)
    const { versus } = await ask('beliefs.explain', 'my-agent-uuid', {
      belief_id: 'br-no-dna',
      other_id: 'e3-dna',
      query: { semantic: QUESTION, options: { scope: { local: true, federated: true, network: true } } },
    })
    await page.getByText(`${versus.ahead} is ranked above ${versus.behind} by ${versus.gap.toFixed(3)}`).waitFor()
    await page.getByText('One denies what the other says').waitFor()
    await expectGoodLooks(page, 'belief-sides')
    expect(errors).toEqual([])
  })

  it('tells nothing of what the viewer may not see, and shows stored text as text', async () => {
    const { page, open, errors } = explorer
    const draft = { id: 'hostile', content: HOSTILE, visibility: 'private' }
    await ask('beliefs.put', 'news-wire', draft)
    await lookAs('news-wire')
    await open('#/beliefs/hostile')
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    expect(await page.evaluate(() => Reflect.get(window, 'hostile'))).toBeUndefined()
    expect(await page.locator('main img, main b').count()).toBe(0)
    expect(errors).toEqual([])
    await lookAs('contrarian')
    await page.getByText('expected the id of a belief that you may see').first().waitFor()
    expect(await page.locator('main').textContent()).not.toContain('onerror')
    errors.length = 0 // the browser notes each refusal of the server
  })

  it('says how to get a sample where there are no beliefs', async () => {
    expect(await querentHere(['init', '--home', join(folder, 'empty')], { cwd: folder })).toMatchObject({ status: 0 })
    await using other = await openExplorer({ home: join(folder, 'empty') })
    await other.open('#/beliefs')
    await other.page.getByText('querent beliefs sample').waitFor()
    expect(other.errors).toEqual([])
  })

  async function lookAs(viewer: string): Promise<void> {
    const { page, open } = explorer
    if (page.url() === 'about:blank') await open('#/beliefs')
    await page.locator('input[name="viewer"]').fill(viewer)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate(() => sessionStorage.getItem('querent.viewer'))).toBe(viewer)
  }

  // biome-ignore lint/suspicious/noExplicitAny: what it answers is what the test is about
  async function ask(operation: string, viewer: string, input: object): Promise<any> {
    const headers = { 'content-type': 'application/json', 'querent-viewer': viewer }
    const response = await fetch(`${explorer.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(input),
    })
    expect(response.status, await response.clone().text()).toBe(200)
    return response.json()
  }
})
