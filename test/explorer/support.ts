/** The explorer as its users have it: the built page, a real server over a store, headless Chromium. */
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { describe, expect, inject } from 'vitest'
import { serveInProcess } from '../support/in-process.ts'

const endpoint = inject('browser')

/** Skipped, by its name, where no Chromium is to be had. */
export const describeInBrowser = describe.skipIf(endpoint === null)

export interface ExplorerOptions {
  readonly home: string
  /** More arguments of `querent serve`. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface Explorer extends AsyncDisposable {
  readonly url: string
  readonly page: Page
  /** What the page has put on the console as an error, and what it has thrown. */
  readonly errors: string[]
  /** Another page of the same browser. `headers` go with every request. */
  newPage(headers?: Readonly<Record<string, string>>): Promise<Page>
  /** Goes to what follows `#` in the address, in a fresh document. */
  open(address: string): Promise<void>
  /** Ends the server, as when it is stopped; the page stays. */
  stopServer(): Promise<void>
  /** Starts it again at the same address. */
  startServer(): Promise<void>
}

export async function openExplorer({ home, args = [], env = {} }: ExplorerOptions): Promise<Explorer> {
  if (endpoint === null) throw new Error('no Chromium')
  const serving = (port: string) =>
    serveInProcess(['serve', '--home', home, ...args], '/', { QUERENT_LIMITS: 'off', ...env }, port)
  let server = await serving('0')
  const { url } = server
  const browser = await chromium.connect(endpoint)
  const contexts: BrowserContext[] = []
  const errors: string[] = []
  const newPage = async (headers: Readonly<Record<string, string>> = {}): Promise<Page> => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      colorScheme: 'light',
      locale: 'en-GB',
      timezoneId: 'UTC',
      extraHTTPHeaders: { ...headers },
    })
    contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    page.on('pageerror', error => errors.push(error.message))
    page.on('console', message => {
      if (message.type() === 'error') errors.push(message.text())
    })
    return page
  }
  const page = await newPage()
  return {
    url,
    page,
    errors,
    newPage,
    open: async address => {
      await page.goto('about:blank')
      await page.goto(`${url}/${address}`)
    },
    stopServer: async () => void (await server.end()),
    startServer: async () => {
      server = await serving(new URL(url).port)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map(context => context.close()))
      await browser.close()
      await server.end()
    },
  }
}

/** A quarter of a second each: only for people who ask for them. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (process.env['QUERENT_SCREENSHOTS'] !== '1') return
  await page.screenshot({ path: fileURLToPath(new URL(`out/${name}.png`, import.meta.url)) })
}

/** Serious and critical findings of WCAG 2.2 AA, one line each. */
async function seriousFindings(page: Page): Promise<readonly string[]> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']
  const { violations } = await new AxeBuilder({ page })
    .options({ runOnly: tags, resultTypes: ['violations'] })
    // In the page itself: it has no frames, and a page of its own for the findings takes longer than finding them.
    .setLegacyMode()
    .analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}

const LOOKS = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
  { width: 375, height: 740, colorScheme: 'light' },
  { width: 375, height: 740, colorScheme: 'dark' },
] as const

/**
 * In both themes, at a desk and on a telephone: nothing sticks out. Each theme and each width is looked through by axe, which
 * finds nothing serious. With QUERENT_SCREENSHOTS=1 it leaves a picture of each in test/explorer/out.
 */
export async function expectGoodLooks(page: Page, name: string): Promise<void> {
  for (const { width, height, colorScheme } of LOOKS) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme })
    await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
    const widest = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(widest, `${name} at ${width} px`).toBeLessThanOrEqual(width)
    // It takes a second each time, and two of the looks have both themes and both widths.
    if ((width === 1280) === (colorScheme === 'light')) {
      expect(await seriousFindings(page), `${name} in ${colorScheme} at ${width} px`).toEqual([])
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 800 })
}
