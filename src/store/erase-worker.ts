/** A process that erases deleted data in one store file; prints `true` or `false`, the result of `eraseInFile`. */
import { eraseInFile } from './sqlite/erase.ts'

const [file = '', mark = '', waitMs = '0'] = process.argv.slice(2)
process.stdout.write(JSON.stringify(eraseInFile(file, mark, Number(waitMs))))
