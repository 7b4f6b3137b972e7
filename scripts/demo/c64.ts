/** The part of the demo that asks the lens c64: it brings its facts itself. */
import { run } from './run.ts'

export function demoC64(): void {
  console.log('\n# Numbers become addresses and colours; the facts come with the lens, and get their vectors here.')
  run('c64', '--embed', '--limit', '2', 'What does POKE 53280, 14 do?')
  console.log('\n# What the numbers and names of a question stand for.')
  run('c64', '--enrich-only', 'JSR $FFD2 with SIGVOL at 15')
}
