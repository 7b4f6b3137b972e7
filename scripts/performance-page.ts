/** Makes docs/performance.md from the figures in bench/out; `npm run bench` and `npm run peers` do it when they end. */
import { writePage } from '../bench/lib/kept-figures.ts'

writePage()
