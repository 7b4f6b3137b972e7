/** The part of `npm run demo` that asks through the lens collections, over the sample that comes with it. */
import { run } from './run.ts'

export function demoCollections(): void {
  console.log('\n# The lens collections: one question over items and analyses, laid out for an assistant, in Spanish…')
  run('collections', '¿qué hay de nuevo sobre servidores MCP?', '--sample', '--days', '7', '--n-results', '2')
  console.log('\n# … and in English; an item and its analysis as one result, words fused in.')
  const asked = ['how do I protect a project from a poisoned package', '--lang', 'en', '--fold', '--hybrid']
  run('collections', ...asked, '--sample', '--n-results', '1', '--urls')
}
