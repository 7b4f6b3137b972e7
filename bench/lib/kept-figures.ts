/** The figures that are kept in the repository, and the pages that are made from them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { figuresPage, type Kept, performancePage } from './performance-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const PAGE: string = `${root}docs/performance.md`
export const FIGURES: string = `${root}bench/figures.md`
const OUT = `${root}bench/out/`

export function keptFigures(): Kept {
  const peers = `${OUT}peers.json`
  return {
    report: JSON.parse(readFileSync(`${OUT}report.json`, 'utf8')),
    ...(existsSync(peers) && { peers: JSON.parse(readFileSync(peers, 'utf8')) }),
  }
}

export function writePages(): void {
  writeFileSync(PAGE, performancePage(keptFigures()))
  writeFileSync(FIGURES, figuresPage(keptFigures()))
}
