/** The colour space: what is drawn, what is asked in it, and what time makes of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HASHTAGS, nodeOf } from '../support/chroma-nodes.ts'
import { querentHere } from '../support/in-process.ts'
import { describeInBrowser, type Explorer, expectGoodLooks, openExplorer } from './support.ts'
import { HOSTILE } from './world.ts'

const DAY = 86_400

describeInBrowser('the colour view', () => {
  const folder = mkdtempSync(join(tmpdir(), 'querent-colour-'))
  const home = join(folder, '.querent')
  let explorer: Explorer
  beforeAll(async () => {
    writeFileSync(join(folder, 'nodes.json'), JSON.stringify({ version: 1, exported_at: 0, nodes: NODES }))
    for (const words of [
      ['chroma', 'assign', '--starter'],
      ['chroma', 'import', 'nodes.json'],
    ]) {
      expect(await querentHere([...words, '--home', home], { cwd: folder })).toMatchObject({ status: 0 })
    }
    explorer = await openExplorer({ home })
  })
  afterAll(async () => {
    await explorer?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  it('draws every node once, in four states, and comes to rest', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    await drawn(page)
    await expect.poll(() => fact(page, 'anchors')).toBeGreaterThan(500)
    expect(await fact(page, 'total')).toBe(NODES.length)
    expect(await fact(page, 'rotten')).toBe(2)
    expect(await fact(page, 'ascended')).toBe(2)
    expect(await fact(page, 'faded')).toBe(1)
    expect(await colours(page)).toBeGreaterThan(20)
    // The last of what was still to come has been drawn when two looks in a row see the same.
    await expect
      .poll(async () => (await fact(page, 'frames')) - (await later(page, () => fact(page, 'frames'))))
      .toBe(0)
    await expectGoodLooks(page, 'colour')
    expect(errors).toEqual([])
  })

  it('shows a question, its hits and their scores', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    await drawn(page)
    await page.getByLabel('Question').fill(HASHTAGS.database.join(' '))
    await page.keyboard.press('Enter')
    const table = page.getByRole('region', { name: 'Hits' }).getByRole('table')
    await table.waitFor()
    expect(await fact(page, 'hits')).toBe(await table.locator('tbody tr').count())
    const best = table.locator('tbody tr').first()
    expect(await best.textContent()).toMatch(/^1ascended-20\.8\d\d0\.01\.000/)
    expect(await page.locator('.colour-label-question:visible').textContent()).toBe('question')
    await expectGoodLooks(page, 'colour-question')
    await best.getByRole('link').press('Enter')
    await page.getByRole('heading', { name: 'ascended-2' }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('Question').inputValue()).toContain('#sqlite')
    expect(errors).toEqual([])
  })

  it('says in the server’s words why a question cannot be asked', async () => {
    const { page, open, errors } = explorer
    await open(`#/colour?q=${encodeURIComponent('#python #nobody')}`)
    await page.getByRole('alert').getByText('#nobody').waitFor()
    await drawn(page)
    // The browser notes the refused request by itself.
    expect(errors.splice(0).filter(line => !line.includes('400'))).toEqual([])
  })

  it('shows by the slider what will have faded and rotted, in the picture and in the tables', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    await drawn(page)
    const before = await fact(page, 'frames')
    const slider = page.getByLabel('If nobody uses anything from now on')
    await slider.press('End')
    await expect.poll(() => fact(page, 'active')).toBe(0)
    expect(await fact(page, 'rotten')).toBe(NODES.length - 3)
    await expect.poll(() => fact(page, 'frames')).toBeGreaterThan(before)
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^in 365 days, /)
    const changes = page.getByRole('region', { name: /^What will have happened by / })
    await changes
      .getByText(/rots|fades/)
      .first()
      .waitFor()
    await page.getByLabel('State').selectOption('ascended')
    const nodes = page.getByRole('region', { name: /^Nodes in 365 days/ })
    await expect.poll(() => nodes.locator('tbody tr').count()).toBe(2)
    await expectGoodLooks(page, 'colour-later')
    await page.getByRole('button', { name: 'Now' }).click()
    await expect.poll(() => fact(page, 'rotten')).toBe(2)
    expect(errors).toEqual([])
  })

  it('plays on its own only for those who have nothing against motion', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    await drawn(page)
    const slider = page.getByLabel('If nobody uses anything from now on')
    await page.getByRole('button', { name: '30 days on' }).click()
    expect(await slider.inputValue()).toBe('30')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await open('#/colour')
    await drawn(page)
    await page.getByRole('button', { name: 'Play' }).click()
    await expect.poll(async () => Number(await slider.inputValue())).toBeGreaterThan(2)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    const stopped = await slider.inputValue()
    expect(await later(page, () => slider.inputValue())).toBe(stopped)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(errors).toEqual([])
  })

  it('names the node under the pointer, and opens it by a click', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    await drawn(page)
    const name = await pointAtSomeNode(page)
    expect(NODES.map(({ label }) => label)).toContain(name)
    await page.mouse.down()
    await page.mouse.up()
    await page.getByRole('heading', { name: name ?? '', exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it('is turned and approached by buttons, and shows stored text as text', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    await drawn(page)
    for (const name of ['Turn to the left', 'Turn to the right', 'Nearer', 'Farther', 'As at the beginning']) {
      const before = await picture(page)
      await page.getByRole('button', { name }).press('Enter')
      await expect.poll(async () => (await picture(page)) === before).toBe(false)
    }
    await page.getByRole('region', { name: 'Nodes now' }).getByRole('link', { name: HOSTILE }).waitFor()
    expect(await page.evaluate(() => Reflect.get(window, 'hostile'))).toBeUndefined()
    expect(await page.locator('main img, main b').count()).toBe(0)
    expect(errors).toEqual([])
  })

  it('leaves nothing on the graphics card however often it is opened', async () => {
    const { page, open, errors } = explorer
    await open('#/colour')
    // A browser keeps sixteen contexts, and says on the console when it takes one away.
    for (let times = 0; times < 17; times++) {
      await drawn(page)
      await page.getByRole('link', { name: 'Store' }).click()
      await page.getByRole('heading', { name: 'Store' }).waitFor()
      await page.getByRole('link', { name: 'Colour space' }).click()
    }
    expect(errors).toEqual([])
  })

  it('says all in its tables where a browser has no WebGL', async () => {
    const page = await explorer.newPage()
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null
    })
    await page.goto(`${explorer.url}/#/colour?q=${encodeURIComponent(HASHTAGS.web.join(' '))}`)
    await page.getByText('no WebGL 2').waitFor()
    await page.getByRole('region', { name: 'Hits' }).getByRole('table').waitFor()
    await page.getByRole('region', { name: 'Nodes now' }).getByRole('table').waitFor()
    expect(explorer.errors).toEqual([])
  })

  it('says how to begin where no node has a colour', async () => {
    const none = join(folder, 'none')
    expect(await querentHere(['init', '--home', none], { cwd: folder })).toMatchObject({ status: 0 })
    await using other = await openExplorer({ home: none })
    await other.open('#/colour')
    await other.page.getByText('querent chroma assign --starter').waitFor()
    await expectGoodLooks(other.page, 'colour-empty')
    expect(other.errors).toEqual([])
  })
})

/** Thirty that were used lately, and each state there is; a name that is hostile. */
const NODES = nodes()

function nodes(): readonly { readonly label: string }[] {
  const now = Math.floor(Date.now() / 1000)
  const used = { created_at: now - 10 * DAY, last_accessed: now - DAY }
  const kinds = Object.entries(HASHTAGS)
  const many = Array.from({ length: 30 }, (_, at) => {
    const [kind, hashtags] = kinds[at % kinds.length] as [string, readonly string[]]
    // Without one of the Mid hashtags a set lies elsewhere.
    const others = hashtags.length > 8 ? hashtags.filter((_, place) => place !== 2 + (at % 5)) : hashtags
    return nodeOf(`${kind}-${at}`, others, { ...used, strength_raw: at / 3 })
  })
  return [
    ...many,
    nodeOf('rotten-1', HASHTAGS.web, { ...used, rotten: true }),
    nodeOf('rotten-2', HASHTAGS.python, { ...used, rotten: true }),
    nodeOf('ascended-1', HASHTAGS.web, { ...used, strength_raw: 30, ascension: true }),
    nodeOf('ascended-2', HASHTAGS.database, { ...used, strength_raw: 25, ascension: true }),
    // This mode alone fades without rotting.
    nodeOf('faded', HASHTAGS.python, { created_at: now - 100 * DAY, mode_name: 'Eidetic' }),
    nodeOf('hostile', HASHTAGS.web, { ...used, label: HOSTILE }),
  ] as unknown as readonly { readonly label: string }[]
}

async function drawn(page: Page): Promise<void> {
  await expect.poll(() => fact(page, 'points')).toBe(NODES.length)
  await expect.poll(() => fact(page, 'frames')).toBeGreaterThan(0)
}

async function fact(page: Page, name: string): Promise<number> {
  return Number(await page.locator('.colour-space').getAttribute(`data-${name}`))
}

async function later<T>(page: Page, look: () => Promise<T>): Promise<T> {
  await page.waitForTimeout(400)
  return look()
}

async function picture(page: Page): Promise<string> {
  return (await page.locator('.colour-space').screenshot()).toString('base64')
}

/** How many different colours the picture has. */
async function colours(page: Page): Promise<number> {
  return page.evaluate(
    async base64 => {
      const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
      if (context === null) return 0
      context.drawImage(bitmap, 0, 0)
      return new Set(new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer)).size
    },
    await picture(page),
  )
}

/** Goes over the picture until a node is named. */
async function pointAtSomeNode(page: Page): Promise<string | null> {
  const box = await page.locator('.colour-space canvas').boundingBox()
  if (box === null) return null
  for (let y = Math.floor(box.height / 3); y < box.height; y += 12) {
    await page.mouse.move(box.x, box.y + y)
    for (let x = Math.floor(box.width / 3); x < box.width; x += 12) {
      await page.mouse.move(box.x + x, box.y + y)
      const named = page.locator('.colour-named')
      if ((await named.count()) > 0) return named.textContent()
    }
  }
  return null
}
