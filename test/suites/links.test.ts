import { openLinkIndex } from '../../src/index/links.ts'
import { openReferenceLinks } from '../../src/index/reference-links.ts'
import { openMemoryStore } from '../../src/store/memory-store.ts'
import { linkSuite } from '../../src/testing/link-suite.ts'
import { GRAPH } from '../../src/testing/link-world.ts'

const openReference = () => openReferenceLinks(GRAPH)

linkSuite('chains', { openStore: openMemoryStore, openIndex: () => openLinkIndex(GRAPH), openReference })

linkSuite('brute force', { openStore: openMemoryStore, openIndex: openReference, openReference })
