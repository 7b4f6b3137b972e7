/** Codes that lenses throw where something is found wrong: their contracts name them, no table of the code holds them. */

/** code, class or place, what it means. A test compares the codes with those in the sources. */
export type LensErrorRow = readonly [
  code: string,
  of: string,
  meaning: string,
  kind: 'usage' | 'conflict' | 'not_found' | 'broken',
]

export const CHROMA_ERRORS: readonly LensErrorRow[] = [
  ['invalid_parameter', 'ValidationError', 'A parameter has a wrong value', 'usage'],
  ['invalid_hashtags', 'ValidationError', 'The hashtags break the rules of the zones', 'usage'],
  ['unknown_hashtag', 'UnknownHashtagError', 'Hashtags that no anchor has', 'usage'],
  ['zone_full', 'ValidationError', 'Every anchor of the zone is taken', 'usage'],
  ['hashtag_assigned', 'HashtagConflictError', 'The hashtag sits elsewhere', 'conflict'],
  ['anchor_occupied', 'HashtagConflictError', 'Another hashtag sits there', 'conflict'],
  ['hashtag_in_use', 'HashtagConflictError', 'Nodes carry the hashtag', 'conflict'],
  ['migration_invalid', 'ValidationError', 'Nodes would break the rules of the zones', 'usage'],
  ['duplicate_entry', 'ValidationError', 'An imported node is there already, or is twice in the document', 'usage'],
  ['color_mismatch', 'ValidationError', 'An imported node is not where its hashtags pull it', 'usage'],
  ['invalid_state', 'ValidationError', 'The state of a memory is not possible', 'usage'],
  ['unknown_column', 'ValidationError', 'No plug-in has this column', 'usage'],
  ['unknown_profile', 'QueryError', 'No query profile has this name', 'usage'],
  ['not_found', 'QueryError', 'No such node, or none that this viewer may see', 'not_found'],
  ['profile_parse_failed', 'QueryProfileError', 'A query profile makes nothing of the text', 'usage'],
  ['stack_invalid', 'StorageError', 'The file of anchors is not the one it should be', 'broken'],
  ['bindings_invalid', 'StorageError', 'The store binds a hashtag to an anchor that is not there', 'broken'],
  ['store_closed', 'StorageError', 'The store is closed', 'broken'],
  ['database_failed', 'DatabaseError', 'The database refused; retryable (503) where it was busy', 'broken'],
  ['invalid_configuration', 'ConfigurationError', 'A setting is wrong', 'usage'],
  ['invalid_plugin', 'PluginError', 'A plug-in exports something else', 'usage'],
  ['invalid_profile', 'PluginError', 'A profile lacks its functions', 'usage'],
  ['invalid_profile_name', 'PluginError', 'A name of other characters, or too long', 'usage'],
  ['reserved_profile_name', 'PluginError', 'The name of the built-in profile', 'usage'],
  ['profile_exists', 'PluginError', 'Another profile has the name', 'usage'],
  ['invalid_extension', 'PluginError', 'An extension is described wrongly', 'usage'],
  ['extension_exists', 'PluginError', 'It is registered with other columns or another version', 'usage'],
  ['registered_too_late', 'PluginError', 'Extensions are registered before the first use', 'usage'],
  ['column_clash', 'PluginError', 'Another extension has the column', 'usage'],
  ['core_field', 'PluginError', 'A field of every node is no column of a plug-in', 'usage'],
  ['requirement_missing', 'StartupError', 'A plug-in that another needs is missing or too old', 'usage'],
  ['migration_failed', 'StartupError', "An extension's migration failed", 'usage'],
]

/** In the `errors` of the answer, by the field they are about. */
export const CONTEXT_ERRORS: readonly (readonly [code: string, meaning: string])[] = [
  ['required', 'The field is missing'],
  ['invalid', 'The field has another type, or is out of range'],
  ['too_short', 'The question is too short'],
  ['not_found', 'No such concept, link, name, file or path'],
  ['ambiguous', 'Several concepts have this name'],
  ['denied', 'It is somebody else’s, or the owner’s alone'],
  ['outside', 'The path lies outside the workspace'],
  ['not_initialized', 'The part that this needs is not made yet'],
  ['no_workspace', 'This store has no folder of code'],
  ['too_many', 'More files than a run may read'],
  ['overtaken', 'Other index runs took over this one again and again; run it again'],
  ['query_error', 'The question could not be asked'],
  ['file_not_found', 'The file of parameters is not there'],
  ['invalid_json', 'The parameters are not JSON'],
  ['cancelled', 'The caller ended it'],
  ['exception', 'A bug of ours'],
]
