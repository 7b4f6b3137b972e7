// `npm run -s querent -- <args>`: the command line from the sources, unbuilt.
import { enableCompileCache } from 'node:module'

// npm changes into the repository's root; paths in the arguments mean the folder the user stands in.
const { INIT_CWD, npm_lifecycle_event } = process.env
if (npm_lifecycle_event === 'querent' && INIT_CWD) process.chdir(INIT_CWD)

enableCompileCache() // before anything is loaded: it also keeps what was stripped of its types
const { main } = await import('../src/doors/main.ts')
process.exitCode = await main(process.argv.slice(2))
