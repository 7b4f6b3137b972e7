/** Makes docs/performance.md and bench/figures.md from the figures in bench/out; `npm run bench` and `npm run peers` do it when they end. */
import { writePages } from '../bench/lib/kept-figures.ts'

writePages()
