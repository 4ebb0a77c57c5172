/** The directives of a location for WebDAV. */
export interface DavSettings {
  /** Bits of {@link METHOD}. */
  methods: number;
  createFullPutPath: boolean;
  minDeleteDepth: number;
  /** Mode bits of the files and folders that are created. */
  access: number;
}
