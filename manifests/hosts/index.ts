export { type HostSet, renderHostSet } from "./host-set";
export { cloudInit, filesOf, type HostMaterial, installScript, renderInstalled } from "./install";
export * from "./layout";
export { makeFolder, makeUser, PUT, putFile, quote, shellScript } from "./script";
export { annotationsIn, environmentOf } from "./unit";
