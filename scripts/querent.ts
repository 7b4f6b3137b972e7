// `npm run -s querent -- <args>`: the command line from the sources, unbuilt.
import { main } from '../src/doors/main.ts'

// npm changes into the repository's root; paths in the arguments mean the folder the user stands in.
const { INIT_CWD, npm_lifecycle_event } = process.env
if (npm_lifecycle_event === 'querent' && INIT_CWD) process.chdir(INIT_CWD)

process.exitCode = await main(process.argv.slice(2))
