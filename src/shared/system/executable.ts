/**
 * True in a single executable (scripts/build-executable): Node with this program in it. `node:sea` is not imported, since the build takes
 * `node:` away for what an old Node is to read, and no module is called `sea`.
 */
export const IS_EXECUTABLE: boolean = process.getBuiltinModule('node:sea').isSea();
