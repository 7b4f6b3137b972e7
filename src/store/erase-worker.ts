/** A process that erases what was forgotten in one store file; says `true` or `false` on its output, as `eraseInFile` does. */
import { eraseInFile } from './sqlite/erase.ts'

const [file = '', mark = '', waitMs = '0'] = process.argv.slice(2)
process.stdout.write(JSON.stringify(eraseInFile(file, mark, Number(waitMs))))
