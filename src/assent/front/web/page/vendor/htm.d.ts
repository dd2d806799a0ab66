declare const htm: { bind(make: unknown): any };
export default htm;
