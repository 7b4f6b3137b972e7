/**
 * The explorer in real Chromium over 100,000 entries, as its users wait for it: until a page that was opened can be used,
 * from Enter to results that are shown, from a click to the next page of entries. The server is a process of its own and
 * answers over loopback; the built page is made first. Times are taken in the browser, up to the picture after the change.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { buildExplorer } from '../scripts/build-explorer.ts'
import { bigHome, questions } from './lib/big-store.ts'
import { startServing } from './lib/http/serving.ts'
import { quick } from './lib/quick.ts'
import { latency, type Row } from './lib/report.ts'

export const name = 'explorer'

const OPENINGS = quick ? 2 : 10
const SEARCHES = quick ? 4 : 30
const PAGES = quick ? 3 : 20
const LONGEST_MS = 60_000
/** One second is the longest for which a thought stays whole. */
const GOAL_MS = 1000

export async function run(): Promise<readonly Row[]> {
  await buildExplorer()
  using home = await bigHome()
  await using server = await startServing({ home: home.folder })
  const browser = await chromium.launch({ executablePath: findChromium(), args: ['--disable-dev-shm-usage'] })
  try {
    const opened = await openings(server.url, 'search', '.welcome button', browser)
    const store = await openings(server.url, 'store', '.store-entries li', browser)
    const page = await pageOf(browser)
    return [
      row('open the first page', opened, 'until names to ask about are offered; nothing cached'),
      row('open the view of the store', store, 'until its first entries are listed; nothing cached'),
      row('from Enter to results', await searches(server.url, page), 'two words each'),
      row('more results', await moreResults(page), 'of the last search'),
      row('to the next page of entries', await nextPages(server.url, page)),
    ]
  } finally {
    await browser.close()
  }
}

type Browser = Awaited<ReturnType<typeof chromium.launch>>

async function pageOf(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.setDefaultTimeout(LONGEST_MS)
  return page
}

/** Each in a context of its own, so that nothing is cached. */
async function openings(url: string, view: string, usable: string, browser: Browser): Promise<readonly number[]> {
  const times: number[] = []
  for (let at = 0; at < OPENINGS; at++) {
    const page = await pageOf(browser)
    await page.goto(`${url}/#/${view}`, { waitUntil: 'commit' })
    times.push(await untilShown(page, usable))
    await page.context().close()
  }
  return times
}

/** Milliseconds since the document was asked for. */
async function untilShown(page: Page, selector: string): Promise<number> {
  await page.locator(selector).first().waitFor()
  return page.evaluate(() => new Promise<number>(tell => requestAnimationFrame(() => tell(performance.now()))))
}

async function searches(url: string, page: Page): Promise<readonly number[]> {
  await page.goto(`${url}/#/search`)
  const field = page.getByRole('combobox', { name: 'Question' })
  const times: number[] = []
  for (const question of questions(2).slice(0, SEARCHES)) {
    await field.fill(question)
    times.push(await timeOf(page, { press: 'form.search-box', shown: '.result', gone: true }))
  }
  return times
}

async function moreResults(page: Page): Promise<readonly number[]> {
  const times: number[] = []
  while (times.length < PAGES && (await page.locator('button.more').count()) > 0) {
    times.push(await timeOf(page, { press: 'button.more', shown: '.result', gone: false }))
  }
  return times
}

async function nextPages(url: string, page: Page): Promise<readonly number[]> {
  await page.goto(`${url}/#/store`)
  await page.locator('.store-entries li').first().waitFor()
  const times: number[] = []
  while (times.length < PAGES) {
    times.push(
      await timeOf(page, {
        press: 'nav[aria-label="Pages of entries"] button:last-child',
        shown: '.store-entries li',
        gone: true,
      }),
    )
  }
  return times
}

interface Act {
  /** A button to click, or a form to send. */
  readonly press: string
  readonly shown: string
  /** Whether what was shown before makes room; else more of it comes. */
  readonly gone: boolean
}

/** From the act to the picture after the change. Clock and eyes are in the browser: no message between processes is timed. */
function timeOf(page: Page, act: Act): Promise<number> {
  return page.evaluate(
    ({ press, shown, gone, longest }) =>
      new Promise<number>((tell, refuse) => {
        const state = () => {
          const all = [...document.querySelectorAll(shown)]
          return gone ? (all[0]?.textContent ?? '') : String(all.length)
        }
        const before = state()
        const begin = performance.now()
        const look = () => {
          const now = state()
          const isWaiting = document.querySelector('.busy') !== null
          if (now !== '' && now !== before && !isWaiting) tell(performance.now() - begin)
          else if (performance.now() - begin > longest) refuse(new Error(`nothing new is shown in ${shown}`))
          else requestAnimationFrame(look)
        }
        const target = document.querySelector<HTMLElement>(press)
        if (target instanceof HTMLFormElement) target.requestSubmit()
        else target?.click()
        requestAnimationFrame(look)
      }),
    { ...act, longest: LONGEST_MS },
  )
}

function row(of: string, times: readonly number[], note?: string): Row {
  const { p50, p99, ...rest } = latency(of, times)
  return { ...rest, p50, p99, goal: `p50 <= ${GOAL_MS} ms`, ok: p50 <= GOAL_MS, ...(note !== undefined && { note }) }
}

function findChromium(): string {
  const script = fileURLToPath(new URL('../scripts/install-chromium.sh', import.meta.url))
  const { status, stdout, stderr } = spawnSync('sh', [script], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}
