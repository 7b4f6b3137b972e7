/** QE-017: in a real browser a page that another port of this machine serves can neither write nor read. */
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { describeInBrowser, type Explorer, openExplorer } from './support.ts'

describeInBrowser('a page on another port', () => {
  let folder: TempFolder
  let explorer: Explorer
  let allowed: Explorer
  let site: Server
  let port = 0

  beforeAll(async () => {
    folder = tempFolder()
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<title>other</title><body>')
    })
    await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
    const address = site.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
    const home = folder.file('home')
    expect(await querentHere(['init', '--home', home], { cwd: folder.path })).toMatchObject({ status: 0 })
    const honey = ['remember', 'The honey is behind the clock.', '--home', home]
    expect(await querentHere(honey, { cwd: folder.path })).toMatchObject({ status: 0 })
    explorer = await openExplorer({ home })
    allowed = await openExplorer({ home, args: ['--cors', `http://localhost:${port}`] })
  })
  afterAll(async () => {
    await explorer?.[Symbol.asyncDispose]()
    await allowed?.[Symbol.asyncDispose]()
    await new Promise(resolve => site.close(resolve))
    folder[Symbol.dispose]()
  })

  /** What the page gets of each try: the text that it can read, or why it reads none. */
  async function tries(from: string, url: string): Promise<Readonly<Record<string, string>>> {
    const page = await explorer.newPage()
    await page.goto(from)
    expect(await page.title()).toBe('other')
    const got = await page.evaluate(async server => {
      const attempt = async (run: () => Promise<string>) => run().catch(error => `refused: ${error}`)
      const fetched = (path: string, init: RequestInit) => async () => {
        const response = await fetch(server + path, init)
        return `${response.type} ${await response.text()}`
      }
      const put = JSON.stringify({ entries: [{ id: 'planted', content: 'Planted.' }] })
      const plain = { 'content-type': 'text/plain' }
      const framed = () =>
        new Promise<string>(resolve => {
          const frame = document.createElement('iframe')
          frame.onload = () => {
            try {
              resolve(frame.contentDocument?.body.innerText ?? 'refused: another origin')
            } catch (error) {
              resolve(`refused: ${error}`)
            }
          }
          frame.src = `${server}/v1/entries`
          document.body.append(frame)
        })
      const image = () =>
        new Promise<string>(resolve => {
          const element = new Image()
          element.onload = () => resolve('loaded')
          element.onerror = () => resolve('refused: no image')
          element.src = `${server}/favicon.svg`
        })
      return {
        read: await attempt(fetched('/v1/entries', {})),
        ask: await attempt(fetched('/v1/query', { method: 'POST', headers: plain, body: '{"text":"honey"}' })),
        writeBlindly: await attempt(
          fetched('/v1/ops/put', { method: 'POST', mode: 'no-cors', headers: plain, body: put }),
        ),
        beacon: String(navigator.sendBeacon(`${server}/v1/ops/put`, put)),
        framed: await attempt(framed),
        image: await attempt(image),
      }
    }, url)
    // A form, which leaves the page.
    await page.evaluate(server => {
      const form = document.createElement('form')
      Object.assign(form, { method: 'post', enctype: 'text/plain', action: `${server}/v1/ops/put` })
      const field = document.createElement('input')
      Object.assign(field, { name: '{"entries":[{"id":"planted","content":"', value: '"}]}' })
      form.append(field)
      document.body.append(form)
      form.submit()
    }, url)
    await page.waitForURL(`${url}/**`)
    const form = await page.locator('body').innerText()
    await page.close()
    return { ...got, form }
  }

  const listed = async (): Promise<string> => (await fetch(`${explorer.url}/v1/entries`)).text()

  it('can neither write nor read, by whatever name of this machine it goes', async () => {
    const { port: own } = new URL(explorer.url)
    for (const name of ['127.0.0.1', 'localhost']) {
      for (const from of [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`]) {
        const got = await tries(from, `http://${name}:${own}`)
        for (const [what, text] of Object.entries(got)) {
          expect(text, `${what} from ${from}`).not.toContain('clock')
          expect(text, `${what} from ${from}`).not.toContain('"created":1')
        }
        expect(got['form']).toContain('pages of other sites may not call the server')
        expect(got['image']).toContain('refused')
      }
    }
    expect(await listed()).toContain('"total":1')
    expect(await listed()).not.toContain('planted')
  })

  it('can follow a link to the explorer, which works as before', async () => {
    const page = await explorer.newPage()
    await page.goto(`http://localhost:${port}/`)
    await page.evaluate(server => {
      const link = document.createElement('a')
      link.href = `${server}/#/search?q=honey&any=yes`
      link.textContent = 'explorer'
      document.body.append(link)
    }, explorer.url)
    await page.getByRole('link', { name: 'explorer' }).click()
    await page.locator('.result').first().waitFor()
    expect(await page.locator('main').innerText()).toContain('behind the clock')
    await page.close()
  })

  it('can do both where --cors names it, and only it', async () => {
    const page = await explorer.newPage()
    const read = async (from: string): Promise<string> => {
      await page.goto(from)
      return page.evaluate(
        server =>
          fetch(`${server}/v1/query`, { method: 'POST', body: '{"text":"honey"}' })
            .then(response => response.text())
            .catch(error => `refused: ${error}`),
        allowed.url,
      )
    }
    expect(await read(`http://localhost:${port}/`)).toContain('behind the clock')
    expect(await read(`http://127.0.0.1:${port}/`)).toContain('refused')
    await page.close()
  })
})
