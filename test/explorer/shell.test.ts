/** What all views share: who looks, themes, addresses, tokens, and how the page is served. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tokenOf, tokensOf } from '../support/tokens.ts'
import { exploredWorld } from './explored-world.ts'
import { describeInBrowser, expectGoodLooks } from './support.ts'

describeInBrowser('the explorer', () => {
  const opened = exploredWorld()

  it('shows every view without an error', async () => {
    const { page, open, errors } = opened.explorer
    await open('')
    const views = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
    await page.getByLabel('View as').waitFor()
    const names = await views.allTextContents()
    expect(names).toEqual(['Search', 'Live', 'Colour space', 'Concepts', 'Beliefs', 'Store'])
    for (const name of names) {
      await views.filter({ hasText: name }).click()
      await expect.poll(() => page.title()).toBe(`${name} · Querent`)
      await page.locator('main h1').first().waitFor({ state: 'attached' })
    }
    expect(errors).toEqual([])
  })

  it('lets the owner look as somebody else, and shows what that one sees', async () => {
    const { page, open, errors } = opened.explorer
    await open('#/search?q=kestrel&any=yes')
    await page.getByRole('link', { name: 'Of Ben alone' }).waitFor()
    const named = () => page.locator('#holders option').evaluateAll(all => all.map(one => one.getAttribute('value')))
    await expect.poll(named).toEqual(['ben'])
    const field = page.getByLabel('View as')
    await field.fill('ana')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('link', { name: 'Of Ben alone' }).count()).toBe(0)
    await page.locator('.result').first().waitFor()
    await expectGoodLooks(page, 'looking-as-ana')
    await field.fill('ben')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Of Ben alone' }).waitFor()
    await page.getByRole('button', { name: 'Be yourself again' }).click()
    await expect.poll(() => field.inputValue()).toBe('')
    expect(errors).toEqual([])
  })

  it('keeps the name that is being typed while the names to choose from arrive', async () => {
    const page = await opened.explorer.newPage()
    const names = Promise.withResolvers<void>()
    await page.route('**/v1/ops/suggest', async route => {
      await names.promise
      await route.continue()
    })
    await page.goto(`${opened.explorer.url}/#/search`)
    const field = page.getByLabel('View as')
    await field.pressSequentially('an')
    names.resolve()
    await page.locator('#holders option').first().waitFor({ state: 'attached' })
    expect(await field.inputValue()).toBe('an')
    await field.pressSequentially('a')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate(() => sessionStorage.getItem('querent.viewer'))).toBe('ana')
    await page.close()
  })

  it('takes away at once what the one before saw, while the answer of the next is on its way', async () => {
    const page = await opened.explorer.newPage()
    const answers = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route('**/v1/ops/get', async route => {
      if (route.request().headers()['querent-viewer'] === 'ana') {
        asked.resolve()
        await answers.promise
      }
      await route.continue()
    })
    await page.goto(`${opened.explorer.url}/#/search/entry/hidden`)
    await page.getByText('kestrel in private').waitFor()
    await page.getByLabel('View as').fill('ana')
    await page.keyboard.press('Enter')
    await asked.promise
    await expect.poll(() => page.locator('main').textContent()).not.toContain('kestrel in private')
    expect(await page.locator('main').textContent()).not.toContain('Of Ben alone')
    answers.resolve()
    await page.getByRole('alert').waitFor()
    await page.close()
  })

  it('leads to the description of its HTTP interface', async () => {
    const { page, open } = opened.explorer
    await open('')
    const link = page.getByRole('link', { name: 'API' })
    expect(new URL(await link.evaluate(a => (a as HTMLAnchorElement).href)).pathname).toBe('/docs')
  })

  it('has the chosen view in sight on a telephone', async () => {
    const page = await opened.explorer.newPage()
    await page.setViewportSize({ width: 375, height: 740 })
    for (const view of ['store', 'search']) {
      await page.goto(`${opened.explorer.url}/#/${view}`)
      const chosen = page.getByRole('navigation', { name: 'Views' }).locator('[aria-current]')
      await expect.poll(async () => (await chosen.textContent())?.toLowerCase()).toBe(view)
      const isInView = async () => {
        const box = await chosen.boundingBox()
        return box !== null && box.x >= 0 && box.x + box.width <= 375
      }
      await expect.poll(isInView).toBe(true)
      await page.setViewportSize({ width: 1280, height: 740 })
      await page.setViewportSize({ width: 375, height: 740 })
      await expect.poll(isInView).toBe(true)
    }
    await page.close()
  })

  it('keeps the theme that was chosen', async () => {
    const { page, open } = opened.explorer
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await open('')
    const light = await ground()
    await page.getByLabel('Theme').selectOption('dark')
    expect(await ground()).not.toBe(light)
    await open('#/store')
    expect(await ground()).not.toBe(light)
    await page.getByLabel('Theme').selectOption('system')
    expect(await ground()).toBe(light)
  })

  it('is read in order by those who use no mouse, and says so of an address that is none', async () => {
    const { page, open } = opened.explorer
    await open('#/no-such-view')
    await page.getByRole('alert').getByText('There is no view').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(new URL(page.url()).hash).toBe('#/no-such-view')
  })
})

describeInBrowser('the explorer of a server with tokens', () => {
  const opened = exploredWorld(({ home }) => {
    const tokens = join(home, 'tokens.json')
    writeFileSync(tokens, JSON.stringify(tokensOf('ana', 'ben')), { mode: 0o600 })
    return ['--tokens', tokens]
  })

  it('offers a viewer with a token neither the doctor nor another viewer', async () => {
    const page = await opened.explorer.newPage()
    await page.addInitScript(() => sessionStorage.setItem('querent.token', 'token-of-ana-in-tests'))
    await page.goto(`${opened.explorer.url}/#/store`)
    await page.locator('.store-numbers').waitFor()
    expect(await page.getByLabel('View as').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Examine' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog', { name: 'This server wants a token' }).waitFor()
    await page.close()
  })

  it('asks for a token where the one it has is not known', async () => {
    const page = await opened.explorer.newPage()
    await page.addInitScript(() => {
      if (sessionStorage.getItem('querent.token') === null) sessionStorage.setItem('querent.token', 'wrong')
    })
    await page.goto(`${opened.explorer.url}/#/search?q=kestrel&any=yes`)
    const dialog = page.getByRole('dialog', { name: 'This server wants a token' })
    await dialog.waitFor()
    expect(await page.locator('.failure').count()).toBe(0)
    await expectGoodLooks(page, 'sign-in')
    // A browser closes a dialog for who insists: nothing would be shown then, and nothing asked.
    await dialog.getByLabel('Token').click()
    for (let time = 0; time < 3; time++) await page.keyboard.press('Escape')
    await expect.poll(() => dialog.isVisible()).toBe(true)
    await dialog.getByLabel('Token').fill(tokenOf('ben'))
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Of Ben alone' }).waitFor()
    await page.close()
  })

  it('is the owner’s for a token of the owner', async () => {
    const page = await opened.explorer.newPage()
    await page.goto(`${opened.explorer.url}/#/search?q=kestrel&any=yes`)
    const dialog = page.getByRole('dialog', { name: 'This server wants a token' })
    await dialog.getByLabel('Token').fill(tokenOf('owner'))
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('View as').waitFor()
    await page.getByRole('link', { name: 'Of Ben alone' }).waitFor()
    await page.close()
  })
})
