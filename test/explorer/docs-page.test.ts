/** `/docs` as its users have it: the built page in headless Chromium, over a real server and store. */
import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { exploredWorld } from './explored-world.ts'
import { describeInBrowser, keepScreenshot } from './support.ts'

interface Described {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>>
}

describeInBrowser('the page of the HTTP API', () => {
  const opened = exploredWorld()

  /** The operations of a lens. The page takes seconds to load and stays where it is open. */
  async function openTag(tag: string): Promise<Locator> {
    const { page, url } = opened.explorer
    if (!page.url().startsWith(`${url}/docs`)) await page.goto(`${url}/docs`)
    const section = page.locator('.opblock-tag-section').filter({ has: page.locator(`#operations-tag-${tag}`) })
    await section.locator(`#operations-tag-${tag}`).waitFor()
    if ((await section.locator('.opblock').count()) === 0) await section.locator(`#operations-tag-${tag}`).click()
    await section.locator('.opblock').first().waitFor()
    return section
  }

  async function openOperation(tag: string, id: string): Promise<Locator> {
    const operation = (await openTag(tag)).locator(`#operations-${tag}-${id}`)
    await operation.locator('.opblock-summary-control').click()
    return operation
  }

  it('lists the operations, asks nobody else, and breaks no rule of its policy', async () => {
    const { page, url, errors } = opened.explorer
    const asked: string[] = []
    page.on('request', request => void asked.push(request.url()))
    const response = await page.goto(`${url}/docs`)
    expect(response?.headers()['content-security-policy']).toContain("default-src 'none'")
    await page.locator('.opblock-tag-section').first().waitFor()
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as Described
    const tags = document.tags.map(tag => tag.name)
    expect(await page.locator('.opblock-tag').evaluateAll(all => all.map(one => one.getAttribute('data-tag')))).toEqual(
      tags,
    )
    const section = await openTag('server')
    const operations = Object.values(document.paths)
      .flatMap(methods => Object.values(methods))
      .filter(one => one.tags[0] === 'server')
    await expect.poll(() => section.locator('.opblock').count()).toBe(operations.length)
    expect(asked.length).toBeGreaterThan(5)
    expect(asked.filter(one => !one.startsWith(`${url}/`) && !one.startsWith('data:'))).toEqual([])
    expect(errors).toEqual([])
    await keepScreenshot(page, 'docs')
  })

  it('tries an operation as the local owner, and shows the answer', async () => {
    const { page, errors } = opened.explorer
    const operation = await openOperation('engine', 'post_query')
    const body = operation.locator('textarea.body-param__text')
    await body.waitFor()
    expect(JSON.parse(await body.inputValue())).toEqual({ text: 'text' })
    await body.fill('{"text": "kestrel", "any": true}')
    const answered = page.waitForResponse(response => new URL(response.url()).pathname === '/v1/query')
    await operation.getByRole('button', { name: 'Execute' }).click()
    expect((await answered).status()).toBe(200)
    await expect.poll(() => operation.locator('.live-responses-table').textContent()).toContain('Of Ben alone')
    await keepScreenshot(page, 'docs-tried')
    expect(errors).toEqual([])
  })
})
