/** The live view: what comes in, changes and leaves, and what happens when the server goes away and comes back. */
import { expect, it } from 'vitest'
import { exploredWorld } from './explored-world.ts'
import { describeInBrowser, expectGoodLooks } from './support.ts'

describeInBrowser('the live view', () => {
  const opened = exploredWorld()
  const entry = (id: string, content: string) => ({ entries: [{ id, title: id, content, visibility: 'public' }] })
  /** Through the server that the page listens to: nobody waits for a process. */
  const write = async (operation: string, input: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${opened.explorer.url}/v1/ops/${operation}`, {
      ...{ method: 'POST', headers, body: JSON.stringify(input) },
    })
    expect(answer.status).toBe(200)
  }
  const put = (id: string, content: string) => write('put', entry(id, content))

  it('waits for a question', async () => {
    const { page, open, errors } = opened.explorer
    await open('#/live')
    await page.getByText('No live query yet').waitFor()
    await expectGoodLooks(page, 'live-empty')
    expect(errors).toEqual([])
  })

  it('tells what came in, changed and left; goes on after the server was away', async () => {
    const { page, open, errors } = opened.explorer
    const happened = (what: string, name: string) =>
      page.locator('.live-events li', { hasText: what }).filter({ hasText: name }).first().waitFor()
    await open('#/live')
    await page.getByRole('searchbox', { name: 'Question to watch' }).fill('walrus')
    await page.getByRole('button', { name: 'Watch' }).click()
    await page.getByText('Watching:').waitFor()
    await put('first', 'A walrus rests on the ice.')
    await happened('came in', 'first')
    await page.locator('.live-items').getByRole('link', { name: 'first' }).waitFor()
    await put('first', 'A walrus rests on the ice, and another walrus.')
    await happened('changed', 'first')
    await write('delete', { ids: ['first'] })
    await happened('left', 'first')
    expect(await page.locator('.live-items li').count()).toBe(0)
    await put('second', 'A second walrus swims.')
    await happened('came in', 'second')
    await expectGoodLooks(page, 'live')
    expect(errors).toEqual([])

    await opened.explorer.stopServer()
    await page.getByText('The connection is lost').waitFor()
    await expectGoodLooks(page, 'live-lost')
    await opened.world.call('put', entry('third', 'A third walrus came while nobody listened.'))
    await opened.explorer.startServer()
    await happened('came in', 'third')
    await page.getByText('Watching:').waitFor()
    // The stream continued: what was reported before the server stopped is still reported once.
    expect(await page.locator('.live-events li').filter({ hasText: 'second' }).count()).toBe(1)
    await expect.poll(() => page.locator('.live-items h3').allTextContents()).toEqual(['second', 'third'])
  })
})
