/** Concepts of code as a graph and as a list: this project's own model and operations, and a file that is hostile. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { describeInBrowser, type Explorer, expectGoodLooks, openExplorer } from './support.ts'
import { HOSTILE } from './world.ts'

const sources = fileURLToPath(new URL('../../src', import.meta.url))

describeInBrowser('the concepts view', () => {
  const folder = mkdtempSync(join(tmpdir(), 'querent-graph-'))
  let explorer: Explorer
  beforeAll(async () => {
    for (const name of ['model', 'ops', 'base'])
      cpSync(join(sources, name), join(folder, 'src', name), { recursive: true })
    writeFileSync(join(folder, 'HOSTILE.md'), `# Heading of ${HOSTILE}\n\nText of ${HOSTILE}\n`)
    expect(await querentHere(['context', 'index'], { cwd: folder })).toMatchObject({ status: 0 })
    explorer = await openExplorer({ home: join(folder, '.querent') })
  })
  afterAll(async () => {
    await explorer?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  it('draws what is found, and reads the chosen concept with its file and lines', async () => {
    const { page, open, errors } = explorer
    await open('#/graph')
    await page.getByLabel('Concept').fill('NotFoundError is missing entry QuerentError')
    await page.keyboard.press('Enter')
    const list = page.getByRole('list', { name: 'Concepts' })
    await list.getByRole('button', { name: 'QuerentError', exact: true }).click()
    await page.getByRole('heading', { name: 'QuerentError', exact: true }).waitFor()
    const detail = page.locator('.graph-detail')
    expect(await detail.textContent()).toMatch(/src\/model\/errors\.ts:\d+-\d+/)
    expect(await detail.locator('pre').textContent()).toContain('class QuerentError')
    expect(await page.locator('.graph-legend ul:first-child li').count()).toBeGreaterThan(1)
    expect(await drawnPixels()).toBeGreaterThan(200)
    await expectGoodLooks(page, 'graph')
    expect(errors).toEqual([])
  })

  it('opens and closes neighbours, and says how many it leaves out', async () => {
    const { page, open, errors } = explorer
    await open('#/graph?q=QuerentError')
    const status = page.getByRole('status').filter({ hasText: 'concept' })
    const toggle = page.getByRole('button', { name: 'Neighbours of QuerentError', exact: true })
    await toggle.waitFor()
    const before = await status.textContent()
    await toggle.click()
    await expect.poll(() => toggle.getAttribute('aria-expanded')).toBe('true')
    const opened = await status.textContent()
    expect(opened).not.toBe(before)
    expect(opened).toMatch(/\d+ neighbours? left out/)
    const more = page.getByRole('button', { name: /^Show more of \d+ that are left out$/ })
    await more.click()
    await expect.poll(() => status.textContent()).not.toBe(opened)
    await toggle.press('Enter')
    await expect.poll(() => status.textContent()).toBe(before)
    expect(errors).toEqual([])
  })

  it('draws a concept that an address names alone; a click on it opens and closes its neighbours', async () => {
    const { page, open, errors } = explorer
    const id = await idOf('recompute')
    await open(`#/graph?concept=${id}`)
    await page.getByRole('heading', { name: 'recompute', exact: true }).waitFor()
    const toggle = page.getByRole('button', { name: 'Neighbours of recompute', exact: true })
    expect(await toggle.getAttribute('aria-expanded')).toBe('true')
    await page.getByRole('button', { name: 'Close its neighbours' }).click()
    await page.getByText('1 concept, 0 links').waitFor()
    await page.locator('.graph-canvas').click()
    await expect.poll(() => toggle.getAttribute('aria-expanded')).toBe('true')
    expect(errors).toEqual([])
  })

  it('tells who calls a concept', async () => {
    const { page, open, errors } = explorer
    await open(`#/graph?concept=${await idOf('combine')}`)
    const detail = page.locator('.graph-detail')
    await detail.getByText('Who calls it').click()
    await detail.getByRole('button', { name: 'recompute', exact: true }).waitFor()
    await detail.getByRole('button', { name: 'recompute', exact: true }).click()
    await page.getByRole('heading', { name: 'recompute', exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it('shows stored text as text', async () => {
    const { page, open, errors } = explorer
    await open('#/graph?q=HOSTILE.md')
    const list = page.getByRole('list', { name: 'Concepts' })
    await list.getByRole('button', { name: 'HOSTILE.md', exact: true }).click()
    await page.locator('.graph-detail').waitFor()
    await list.getByRole('button', { name: /^Heading of/ }).click()
    await page.locator('.graph-detail pre').getByText('<script>').first().waitFor()
    expect(await page.evaluate(() => Reflect.get(window, 'hostile'))).toBeUndefined()
    expect(await page.locator('main img, main b').count()).toBe(0)
    expect(errors).toEqual([])
  })

  it('says what to do where no code was read, and where nothing is found', async () => {
    const { page, open, errors } = explorer
    await open('#/graph?q=zzzzqqqq')
    await page.getByText('Nothing is called that').waitFor()
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    expect(await querentHere(['init'], { cwd: empty })).toMatchObject({ status: 0 })
    await using other = await openExplorer({ home: join(empty, '.querent') })
    await other.open('#/graph')
    await other.page.getByText('querent add --code .').waitFor()
    expect([...errors, ...other.errors]).toEqual([])
  })

  async function idOf(name: string): Promise<number> {
    const body = JSON.stringify({ name })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${explorer.url}/v1/ops/context.definition`, { method: 'POST', body, headers })
    const { result } = (await response.json()) as { result: { definitions: { id: number }[] } }
    return result.definitions[0]?.id ?? 0
  }

  /** Of the picture, how many are of another colour than its first. */
  async function drawnPixels(): Promise<number> {
    const image = (await explorer.page.locator('.graph-canvas').screenshot()).toString('base64')
    return explorer.page.evaluate(async base64 => {
      const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
      if (context === null) return 0
      context.drawImage(bitmap, 0, 0)
      const { data } = context.getImageData(8, 8, bitmap.width - 16, bitmap.height - 16)
      const pixels = new Uint32Array(data.buffer)
      return pixels.filter(pixel => pixel !== pixels[0]).length
    }, image)
  }
})
