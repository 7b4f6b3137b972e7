// Makes <folder>: the package as far as the `querent` command needs it, of the sources as they are now. Reading the sources
// one by one is most of the time of a short command, and the tests start a thousand.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleCommand } from './bundle-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? '.test-package')

mkdirSync(join(folder, 'dist'), { recursive: true })
cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
// Without `exports`, which have a meaning only in the package itself.
const { name, version, type } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, type }))
// Those that may not be there yet, too: the pages are built by the tests that look at them.
for (const path of ['model', 'dist/explorer', 'dist/docs']) symlinkSync(join(root, path), join(folder, path))
symlinkSync(join(root, 'src/lenses'), join(folder, 'dist/lenses'))
await bundleCommand('src', join(folder, 'dist/command'))
