/** Program run as a separate process: erases deleted data in one store file, and prints the result of `eraseInFile`, `true` or `false`. */
import { eraseInFile } from './sqlite/erase.ts'

const [file = '', mark = '', waitMs = '0'] = process.argv.slice(2)
process.stdout.write(JSON.stringify(eraseInFile(file, mark, Number(waitMs))))
