/** An answer of several nodes, each a process of its own; one of them does not run. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prepareStores } from '../support/node-stores.ts'
import { type Serving, startServer } from '../support/serving.ts'
import { describeInBrowser, type Explorer, expectGoodLooks, openExplorer } from './support.ts'

describeInBrowser('an answer of several nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'querent-explored-nodes-'))
  const homeOf = (name: string) => join(folder, name, '.querent')
  const servers = new Map<string, Serving>()
  let explorer: Explorer
  beforeAll(async () => {
    const keys = await prepareStores(homeOf)
    for (const name of ['n1', 'n5'])
      servers.set(name, await startServer(['serve', '--home', homeOf(name), '--log', 'off'], folder))
    explorer = await openExplorer({ home: homeOf('home') })
    const add = (peer: object) => ask('peers.add', peer)
    await add({ id: 'n1', address: servers.get('n1')?.url, federations: ['birds'] })
    await add({ id: 'n5', address: servers.get('n5')?.url, network: true })
    // Port 1 is nobody's.
    await add({ id: 'n6', address: 'http://127.0.0.1:1', did: keys.get('n6'), network: true })
  })
  afterAll(async () => {
    await explorer?.[Symbol.asyncDispose]()
    await Promise.all([...servers.values()].map(server => server.end()))
    rmSync(folder, { recursive: true, force: true })
  })

  it('shows where each result is from, who answered with how many and when, and who did not and why', async () => {
    const { page, open, errors } = explorer
    await open('#/beliefs')
    await page.locator('input[name="viewer"]').fill('ana')
    await page.keyboard.press('Enter')
    await open('#/beliefs?q=swifts')
    await page.getByRole('heading', { name: 'Who answered' }).waitFor()
    const reported = (text: string) =>
      page.locator('.beliefs-result', { hasText: text }).locator('p.quiet').textContent()
    expect(await reported('swifts of home')).toContain('from this node,')
    expect(await reported('swifts shared by n1')).toContain('from federation birds by node n1,')
    expect(await reported('swifts public at n5')).toContain('from node n5,')
    expect(await page.locator('.beliefs-result a').allTextContents()).toEqual(['swifts of home'])
    expect(await page.getByRole('status').first().textContent()).toContain('not all of the answer: see who answered')

    const rows = await page.locator('.beliefs-nodes tbody tr').all()
    const cells = await Promise.all(rows.map(row => row.locator('th, td').allTextContents()))
    const AFTER = expect.stringMatching(/^\d\d:\d\d:\d\d after [\d,]+ ms$/)
    expect(cells).toEqual([
      ['n1', 'federation birds', '1 belief', AFTER],
      ['n5', 'what is public', '1 belief', AFTER],
      [
        'n6',
        'what is public',
        'the node gave no answer that could be used',
        expect.stringMatching(/^given up after [\d,]+ ms$/),
      ],
    ])
    await expectGoodLooks(page, 'beliefs-nodes')
    expect(errors).toEqual([])
  })

  it('shows nothing of nodes where none are asked', async () => {
    const { page, open, errors } = explorer
    for (const id of ['n1', 'n5', 'n6']) await ask('peers.remove', { id })
    await open('#/beliefs?q=swifts')
    await page.locator('.beliefs-result').waitFor()
    expect(await page.locator('.beliefs-nodes').count()).toBe(0)
    expect(errors).toEqual([])
  })

  async function ask(operation: string, input: object): Promise<void> {
    const response = await fetch(`${explorer.url}/v1/ops/${operation}`, { method: 'POST', body: JSON.stringify(input) })
    expect(response.status, await response.clone().text()).toBe(200)
  }
})
