// `npm run -s querent -- <args>`: the command line from the sources, unbuilt.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// npm changes into the repository's root; paths in the arguments mean the folder the user is in.
const { INIT_CWD, npm_lifecycle_event } = process.env
if (npm_lifecycle_event === 'querent' && INIT_CWD) process.chdir(INIT_CWD)

// Before anything is loaded: it also keeps what was stripped of its types. In the checkout: Node's own place is shared with other users.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
const { main } = await import('../src/interfaces/main.ts')
process.exitCode = await main(process.argv.slice(2))
