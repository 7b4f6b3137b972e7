/** `node bench/peers/draw.ts`: plots and page from the figures that are kept, without measuring anything. */
import { writePages } from '../lib/kept-figures.ts'
import { drawPlots } from './plots.ts'

await drawPlots()
writePages()
