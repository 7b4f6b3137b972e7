/** The end of the demo: a page to go on with. Built again each time: the sources may have changed since. */
import { buildDocsPage } from '../build-docs-page.ts'
import { buildExplorer } from '../build-explorer.ts'

export async function buildPage(): Promise<void> {
  console.log('\n# The page that `querent serve` shows is being built …')
  await buildExplorer()
  buildDocsPage()
  console.log('\nTo ask in the browser, over the guides or a folder of your own:\n')
  console.log('  npm run -s querent -- serve docs/guide --open\n')
}
