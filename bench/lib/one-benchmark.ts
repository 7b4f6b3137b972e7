/** Runs the benchmark whose file is the argument (relative to this folder), and sends its rows to the process that asked. */
import type { Benchmark } from './report.ts'

const benchmark = (await import(process.argv[2] as string)) as Benchmark
const rows = await benchmark.run()
process.send?.(rows, () => process.disconnect())
