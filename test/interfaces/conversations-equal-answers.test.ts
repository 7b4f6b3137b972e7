/** The lens conversations through library, command line, HTTP and MCP: equal answers and errors. */
import { CONVERSATIONS_STEPS } from './conversations-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'

sameEverywhere({ embedder: 'none', lens: 'conversations', steps: () => CONVERSATIONS_STEPS })
