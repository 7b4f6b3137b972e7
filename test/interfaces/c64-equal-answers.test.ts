/** The lens c64 through library, command line, HTTP and MCP: equal enrichments, results and errors. */
import { C64_STEPS } from './c64-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'

sameEverywhere({ embedder: 'none', lens: 'c64', steps: () => C64_STEPS })
