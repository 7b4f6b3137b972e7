/** Makes docs/performance.md and bench/figures.md from the figures in bench/out; `npm run bench` does it after each run. */
import { writePages } from '../bench/lib/kept-figures.ts'

writePages()
