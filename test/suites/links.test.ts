import { openLinkIndex } from '../../src/index/links.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { GRAPH } from '../support/link-world.ts'
import { openReferenceLinks } from '../support/reference-links.ts'
import { linkSuite } from './link-suite.ts'

const openReference = () => openReferenceLinks(GRAPH)

linkSuite('chains', { openStore: openMemoryStore, openIndex: () => openLinkIndex(GRAPH), openReference })

linkSuite('brute force', { openStore: openMemoryStore, openIndex: openReference, openReference })
