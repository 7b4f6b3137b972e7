/** The figures that are kept in the repository, and the pages that are made from them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { figuresPage, performancePage } from './performance-page.ts'
import type { Report } from './report.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const PAGE: string = `${root}docs/performance.md`
export const FIGURES: string = `${root}bench/figures.md`

export function keptFigures(): Report {
  return JSON.parse(readFileSync(`${root}bench/out/report.json`, 'utf8'))
}

export function writePages(): void {
  writeFileSync(PAGE, performancePage(keptFigures()))
  writeFileSync(FIGURES, figuresPage(keptFigures()))
}
