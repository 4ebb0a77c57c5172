import { isSea } from 'node:sea';

/** True in a single executable (scripts/build-executable): Node with this program in it. */
export const IS_EXECUTABLE: boolean = isSea();
